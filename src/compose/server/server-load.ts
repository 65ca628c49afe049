import type { IncomingMessage, Server, ServerResponse } from 'node:http';

const OPERATION_PATHS = new Set(['/healthz', '/readyz', '/metrics']);

/** What comes to a server, requests for health and metrics aside. */
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

/** Counts what comes from now on. */
export function watchLoad(server: Server): ServerLoad {
  const open = new Map<ServerResponse, IncomingMessage>();
  let arrivals = 0;
  let isEnding = false;
  server.on('connection', () => {
    arrivals += 1;
  });
  // First of all: some responses are written before the next listener has its turn.
  server.prependListener('request', (request, response) => {
    if (OPERATION_PATHS.has(request.url ?? '')) return;
    arrivals += 1;
    open.set(response, request);
    response.once('close', () => open.delete(response));
    if (isEnding) endConnection(request, response);
  });
  return {
    inFlight: () => open.size,
    arrivals: () => arrivals,
    endConnections: () => {
      isEnding = true;
      for (const [response, request] of open) endConnection(request, response);
    },
  };
}

/** Not below a client that still sends: it would see a reset instead of the response. */
function endConnection(request: IncomingMessage, response: ServerResponse): void {
  const close = (): void => {
    response.shouldKeepAlive = false;
  };
  if (request.complete || !hasBody(request)) close();
  else request.once('end', close);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}
