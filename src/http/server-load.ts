/** Load of a server: what is under way, and whom it turns away while the event loop lags. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { TrackportError } from '#shared/errors.ts';
import { operationPaths } from './routes/operations.ts';
import type { HttpApp } from './context.ts';

const OPERATION_PATHS = new Set<string>(Object.values(operationPaths));

/** The load of a server, requests for health and metrics aside. */
export type ServerLoad = {
  /** Requests without a whole response. */
  inFlight(): number;
  /** Grows with every connection and every request. */
  arrivals(): number;
  /**
   * Ends each connection with its next response (`Connection: close`), so that its client makes a new
   * one, which a load balancer sends elsewhere.
   */
  endConnections(): void;
};

/**
 * Counts what comes from now on. The response under way is noted per connection, for a set of all responses is made
 * anew again and again as they come and go, and what is left of it holds thousands of finished requests in memory.
 */
export function watchLoad(server: Server): ServerLoad {
  const current = new Map<Socket, ServerResponse | undefined>();
  let inFlight = 0;
  let arrivals = 0;
  let isEnding = false;
  const onClose = function (this: ServerResponse): void {
    inFlight -= 1;
    const { socket } = this.req;
    if (current.get(socket) === this) current.set(socket, undefined);
  };
  server.on('connection', (socket: Socket) => {
    arrivals += 1;
    current.set(socket, undefined);
    socket.once('close', () => current.delete(socket));
  });
  // First of all: some responses are written before the next listener has its turn.
  server.prependListener('request', (request, response) => {
    if (OPERATION_PATHS.has(request.url ?? '')) return;
    arrivals += 1;
    inFlight += 1;
    if (current.has(request.socket)) current.set(request.socket, response);
    response.on('close', onClose);
    if (isEnding) endConnection(response);
  });
  return {
    inFlight: () => inFlight,
    arrivals: () => arrivals,
    endConnections: () => {
      isEnding = true;
      for (const response of current.values()) if (response) endConnection(response);
    },
  };
}

/** Not below a client that still sends: it would see a reset instead of the response. */
function endConnection(response: ServerResponse): void {
  const request = response.req;
  const close = (): void => {
    response.shouldKeepAlive = false;
  };
  if (request.complete || !hasBody(request)) close();
  else request.once('end', close);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

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
