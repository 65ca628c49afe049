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
  const open = new Set<ServerResponse>();
  /** One listener for all responses: a closure for each costs hot reads memory. */
  const onClose = function (this: ServerResponse): void {
    open.delete(this);
  };
  let arrivals = 0;
  let isEnding = false;
  server.on('connection', () => {
    arrivals += 1;
  });
  // First of all: some responses are written before the next listener has its turn.
  server.prependListener('request', (request, response) => {
    if (OPERATION_PATHS.has(request.url ?? '')) return;
    arrivals += 1;
    open.add(response);
    response.on('close', onClose);
    if (isEnding) endConnection(response);
  });
  return {
    inFlight: () => open.size,
    arrivals: () => arrivals,
    endConnections: () => {
      isEnding = true;
      for (const response of open) endConnection(response);
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
