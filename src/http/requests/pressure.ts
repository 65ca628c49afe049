import underPressure from '@fastify/under-pressure';
import { TrackportError } from '#shared/errors.ts';
import type { HttpApp } from '../http-app.ts';

/** Turns requests away early while the event loop lags, so that those accepted get a response. */
export function installPressureRelief(app: HttpApp, { lagMsMax }: { lagMsMax: number }): void {
  void app.register(underPressure, {
    maxEventLoopDelay: lagMsMax,
    pressureHandler: async (request) => {
      if (request.routeOptions.config.isOperation === true) return;
      throw new TrackportError('overloaded', {
        detail: 'The service has more calls than it can answer in time.',
        retryAfterSeconds: 5,
      });
    },
  });
}
