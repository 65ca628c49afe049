import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { operationPaths } from './routes/operations.ts';

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
