import type { Server } from 'node:http';

import type { HttpApp } from '#http/http-app.ts';
import type { Clock } from '#shared/clock.ts';

import { listenError } from './start-error.ts';
import type { PortSetter } from './start-error.ts';

/** When a stop ends the requests to the tracker that are still under way, so that it takes no 10 s. */
const CUT_AFTER_MS = 7000;

/** How long a stop waits for requests in flight, so that it ends well within 10 s. */
const DRAIN_MS = 8000;
const LOOK_EVERY_MS = 20;
const OPERATION_PATHS = new Set(['/healthz', '/readyz', '/metrics']);

/** A server that listens. */
export type Listening = {
  host: string;
  port: number;
  /** Requests in flight, those for health and metrics aside. */
  inFlight(): number;
  /**
   * Takes no more connections, and ends the rest once they have a response.
   * What is still open after `deadline` (ms of the monotonic clock) is cut.
   */
  close(deadline: number): Promise<void>;
};

export type ListenDeps = {
  app: HttpApp;
  host: string;
  port: number;
  /** Default `--port`. */
  setBy?: PortSetter;
  /** Whether other processes may listen on it, too (`SO_REUSEPORT`); default false. */
  reusePort?: boolean;
  clock: Clock;
};

/** Starts listening; port 0 becomes a free one. @throws {StartError} */
export async function listen(deps: ListenDeps): Promise<Listening> {
  const { app, host, port, setBy, reusePort = false, clock } = deps;
  const inFlight = countRequests(app.server);
  try {
    await app.listen({ host, port, ...(reusePort && { reusePort }) });
  } catch (error) {
    await app.close().catch(() => undefined);
    throw listenError(error, { host, port, ...(setBy && { setBy }) });
  }
  return {
    host,
    port: portOf(app.server) ?? port,
    inFlight,
    close: async (deadline) => {
      const cut = new AbortController();
      const cutting = clock
        .sleep(deadline - clock.monotonicMs(), { signal: cut.signal, unref: true })
        .then(() => app.server.closeAllConnections())
        .catch(() => undefined);
      await app.close();
      cut.abort(new Error('closed in time'));
      await cutting;
    },
  };
}

/**
 * Keeps listening until nothing is in flight, so that load balancers see `/readyz` turn 503 rather
 * than a refused connection. Returns until when the rest of the stop should be done.
 */
export async function drain(clock: Clock, listening: Pick<Listening, 'inFlight'>): Promise<number> {
  const deadline = clock.monotonicMs() + DRAIN_MS;
  while (listening.inFlight() > 0 && clock.monotonicMs() < deadline - DRAIN_MS / 4)
    await clock.sleep(LOOK_EVERY_MS);
  return deadline;
}

/** The worker finishes its step, but a tracker that hangs must not hold up the stop. */
export async function cutInTime(clock: Clock, cut: AbortController): Promise<void> {
  await clock.sleep(CUT_AFTER_MS, { unref: true });
  cut.abort(new DOMException('the service stops', 'TimeoutError'));
}

function portOf(server: Server): number | undefined {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : undefined;
}

function countRequests(server: Server): () => number {
  let count = 0;
  server.on('request', (request, response) => {
    if (OPERATION_PATHS.has(request.url ?? '')) return;
    count += 1;
    response.once('close', () => {
      count -= 1;
    });
  });
  return () => count;
}
