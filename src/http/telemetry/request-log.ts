import type { FastifyReply, FastifyRequest } from 'fastify';
import { isLoggableId } from '#shared/ids.ts';
import type { Log } from '#shared/log.ts';
import type { RefusalLog } from './refusal-log.ts';

const QUIET_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** A request whose response was sent, with its route's template. */
export type CompletedRequest = { request: FastifyRequest; reply: FastifyReply; route: string };

export type RequestLogDeps = { log: Log; refusalLog: RefusalLog };

/**
 * One line per completed request: the route's template, never the path or query. Successful reads
 * and events of the tracker are `debug`, since they are most of the traffic; mistakes of ours are
 * `error`, and what failed around us is `warn`. Of refused requests only so many get a line of their own.
 */
export function logRequest({ log, refusalLog }: RequestLogDeps, completed: CompletedRequest): void {
  const { request, reply, route } = completed;
  const status = reply.statusCode;
  const isQuiet = status < 400 && isRoutine(request);
  if (isQuiet && !log.isDebug()) return;
  const code = String(request.logFacts?.['code'] ?? status);
  if (isRefusal(status, code) && !refusalLog.take(code)) return;
  const fields = {
    requestId: request.id,
    method: request.method,
    route,
    status,
    durationMs: Math.round(reply.elapsedTime * 10) / 10,
    ...clientIdOf(request),
    ...request.logFacts,
  };
  if (status === 500) log.error(fields, 'request failed');
  else if (status > 500) log.warn(fields, 'request failed');
  else if (isQuiet) log.debug(fields, 'request answered');
  else log.info(fields, 'request answered');
}

/** What the caller did wrong, and what we had no room for. Other failures are worth a line each. */
function isRefusal(status: number, code: string): boolean {
  return (status >= 400 && status < 500) || code === 'overloaded';
}

/** The route's template (`/api/v1/leads/:leadId`), `unknown` for what no route serves. */
export function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? 'unknown';
}

/** The caller's own id is only ever a log field; ours is the one that counts. */
function clientIdOf(request: FastifyRequest): { clientRequestId?: string } {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && isLoggableId(given) ? { clientRequestId: given } : {};
}

/** Reads, what a browser asks before one, and what the route says. */
function isRoutine({ method, routeOptions }: FastifyRequest): boolean {
  return QUIET_METHODS.has(method) || routeOptions.config.isRoutine === true;
}
