import { monitorEventLoopDelay } from 'node:perf_hooks';
import { TrackportError } from '#shared/errors.ts';
import type { HttpApp } from './context.ts';

/** The event loop lags by as much as a timer of so many ms comes late. */
const RESOLUTION_MS = 10;
const NANOSECONDS_PER_MS = 1e6;
/** In a row: a single one comes of a start, or of a machine that was paused, and is over when it is seen. */
const LATE_SAMPLES_MIN = 3;

/** Turns requests away early while the event loop lags, so that those accepted get a response. */
export function installPressureRelief(app: HttpApp, { lagMsMax }: { lagMsMax: number }): void {
  if (lagMsMax === 0) return;
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let lateSamples = 0;
  const sampling = setInterval(() => {
    // Not a number: no timer came at all.
    const lagMs = Number.isNaN(delays.mean)
      ? Infinity
      : delays.mean / NANOSECONDS_PER_MS - RESOLUTION_MS;
    lateSamples = lagMs > lagMsMax ? lateSamples + 1 : 0;
    delays.reset();
  }, lagMsMax).unref();
  app.addHook('onRequest', (request, _reply, next) => {
    const isOperation = request.routeOptions.config.isOperation === true;
    if (lateSamples < LATE_SAMPLES_MIN || isOperation) return next();
    next(
      new TrackportError('overloaded', {
        detail: 'The service has more calls than it can answer in time.',
        retryAfterSeconds: 5,
      }),
    );
  });
  app.addHook('onClose', async () => {
    clearInterval(sampling);
    delays.disable();
  });
}
