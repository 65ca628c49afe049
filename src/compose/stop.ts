import type { Server, IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as eventLoopTurn } from 'node:timers/promises';
import type { HttpApp } from '#http/context.ts';
import { operationPaths } from '#http/routes/operations.ts';
import type { Clock } from '#shared/clock.ts';
import type { Socket } from 'node:net';

// A stop takes no 10 s beyond its delay: these are its steps, counted from the end of the delay.
/** Requests to the tracker that are still under way are ended. */
const CUT_AFTER_MS = 7000;
/** Requests in flight are waited for no longer. */
const DRAIN_MS = 8000;

const LOOK_EVERY_MS = 20;

/**
 * Takes no more connections, ends the rest once they have a response, and cuts those that are open after `deadline`
 * (ms of the monotonic clock).
 */
export async function closeInTime(fastify: HttpApp, clock: Clock, deadline: number): Promise<void> {
  const cut = new AbortController();
  const cutting = clock
    .sleep(deadline - clock.monotonicMs(), { signal: cut.signal, unref: true })
    .then(() => fastify.server.closeAllConnections())
    .catch(() => undefined);
  await fastify.close();
  cut.abort(new Error('closed in time'));
  await cutting;
}

type Drain = {
  clock: Clock;
  /** Time in which everything is served as before, so that load balancers can notice. */
  delayMs: number;
  load: ServerLoad;
  /** Finished meanwhile. */
  work: Promise<unknown>;
};

/**
 * Keeps listening until the work is done, nothing is in flight and nobody came for a moment: a
 * connection that the system has taken, and this process has not yet, would be reset. Load balancers
 * see `/readyz` turn 503 meanwhile rather than a refused connection. Returns until when the rest of the
 * stop should be done.
 */
export async function drain({ clock, delayMs, load, work }: Drain): Promise<number> {
  const isDone = watchEnd(work);
  load.endConnections();
  if (delayMs > 0) await clock.sleep(delayMs);
  const deadline = clock.monotonicMs() + DRAIN_MS;
  const isLate = (): boolean => clock.monotonicMs() >= deadline - DRAIN_MS / 4;
  let arrivals: number;
  do {
    arrivals = load.arrivals();
    await clock.sleep(LOOK_EVERY_MS);
    // A busy process wakes late, before it has looked at its port: one turn takes what waits there.
    await eventLoopTurn();
  } while ((!isDone() || load.inFlight() > 0 || load.arrivals() > arrivals) && !isLate());
  await work;
  return deadline;
}

function watchEnd(work: Promise<unknown>): () => boolean {
  let isDone = false;
  const end = (): void => {
    isDone = true;
  };
  work.then(end, end);
  return () => isDone;
}

/** The worker finishes its step, but a tracker that hangs must not hold up the stop. */
export async function cutInTime(
  clock: Clock,
  delayMs: number,
  cut: AbortController,
): Promise<void> {
  await clock.sleep(delayMs + CUT_AFTER_MS, { unref: true });
  cut.abort(new DOMException('the service stops', 'TimeoutError'));
}

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
