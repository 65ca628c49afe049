import type { FastifyReply, FastifyRequest } from 'fastify';
import { isLoggableId } from '#shared/ids.ts';
import type { Log } from '#shared/log.ts';
import { type Clock, SECOND } from '#shared/clock.ts';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { CacheStatus } from '#leads/reading/lead-reader.ts';
import type { BodyBudget } from '../requests/body.ts';
import type { Span, Tracing } from '#shared/tracing.ts';
import type { HttpApp } from '../context.ts';

const QUIET_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** A request whose response was sent, with its route's template. */
type CompletedRequest = { request: FastifyRequest; reply: FastifyReply; route: string };

/**
 * One line per completed request: the route's template, never the path or query. Successful reads
 * and events of the tracker are `debug`, since they are most of the traffic; mistakes of ours are
 * `error`, and what failed around us is `warn`. Of refused requests only so many get a line of their own.
 */
export function logRequest(
  log: Log,
  refusalLog: RefusalLog,
  { request, reply, route }: CompletedRequest,
): void {
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

/** True for mistakes of the caller, and where there was no room. Other failures are worth a line each. */
function isRefusal(status: number, code: string): boolean {
  return (status >= 400 && status < 500) || code === 'overloaded';
}

/** The route's template (`/api/v1/leads/:leadId`), `unknown` for what no route serves. */
export function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? 'unknown';
}

/** The caller's own id is only ever a log field; ours is the one that counts. */
function clientIdOf(request: FastifyRequest): { clientRequestId?: string } {
  const id = request.headers['x-request-id'];
  return typeof id === 'string' && isLoggableId(id) ? { clientRequestId: id } : {};
}

/** Reads, what a browser asks before one, and what the route says. */
function isRoutine({ method, routeOptions }: FastifyRequest): boolean {
  return QUIET_METHODS.has(method) || routeOptions.config.isRoutine === true;
}

/** Refused requests that get a line of their own, per second. */
const LINES_MAX = 10;

/** Prevents refused requests, which anybody can make, from filling the log. */
export type RefusalLog = {
  /** True when this refused request gets a line of its own; else it is counted in one for all of them. */
  take(code: string): boolean;
  /** Writes that line now: what was counted must not be lost when the server closes. */
  flush(): void;
};

/** The second starts with a refused request, and its line comes at its end, if any was only counted. */
export function createRefusalLog({
  log,
  clock,
}: {
  log: Log;
  clock: Pick<Clock, 'sleep'>;
}): RefusalLog {
  const counts = new Map<string, number>();
  let lines = 0;
  let isOpen = false;

  const flush = (): void => {
    if (counts.size === 0) return;
    const byCode = [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const count = byCode.reduce((sum, [, one]) => sum + one, 0);
    const codes = byCode.map(([code, one]) => `${code}=${one}`).join(' ');
    counts.clear();
    log.info({ count, codes }, 'more calls refused');
  };

  const open = async (): Promise<void> => {
    isOpen = true;
    await clock.sleep(SECOND, { unref: true });
    flush();
    lines = 0;
    isOpen = false;
  };

  return {
    take: (code) => {
      if (!isOpen) void open();
      if (lines < LINES_MAX) {
        lines += 1;
        return true;
      }
      counts.set(code, (counts.get(code) ?? 0) + 1);
      return false;
    },
    flush,
  };
}

/** Measures every response by method, route template and status. */
export function createRequestMetrics(registry: Registry) {
  const durations = new Histogram({
    name: 'trackport_http_request_duration_seconds',
    help: 'Time from the first byte of the request to the last of the answer.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.001, 0.005, 0.025, 0.1, 0.25, 1, 2.5, 10],
    registers: [registry],
  });
  return ({ request: { method }, reply, route }: CompletedRequest): void =>
    durations.observe({ method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
}

/** Counts reads of leads by how the response came about. All of them are there from the start, at 0. */
export function createReadMetrics(registry: Registry): (outcome: CacheStatus['outcome']) => void {
  const reads = new Counter({
    name: 'trackport_lead_reads_total',
    help: 'Reads of leads by how the answer came about, as Cache-Status says it.',
    labelNames: ['cache'] as const,
    registers: [registry],
  });
  for (const cache of ['hit', 'miss', 'stale']) reads.inc({ cache }, 0);
  return (cache) => reads.inc({ cache });
}

/** Shows what large bodies hold at the moment. */
export function measureBodies(registry: Registry, budget: BodyBudget): void {
  void new Gauge({
    name: 'trackport_http_large_bodies_bytes',
    help: 'Memory of request bodies over 64 KiB that are read or worked on.',
    registers: [registry],
    collect() {
      this.set(budget.heldBytes());
    },
  });
}

/**
 * One span per request, by its route's template; no path, query, header or body. Anybody can send a
 * `traceparent`: it is linked, and the trace and whether it is recorded are our own.
 */
export function traceRequests(app: HttpApp, tracing: Tracing): void {
  const spans = new WeakMap<FastifyRequest, Span>();
  const end = (request: FastifyRequest, reply: FastifyReply, errorType?: string): void => {
    const span = spans.get(request);
    if (!span) return;
    spans.delete(request);
    const receiptId = request.logFacts?.['receiptId'];
    span.set({
      ...(reply.raw.headersSent && { 'http.response.status_code': reply.statusCode }),
      ...(receiptId !== undefined && { 'trackport.receipt_id': receiptId }),
    });
    span.end(errorType);
  };
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.isOperation === true) return done();
    const route = routeOf(request);
    const { traceparent } = request.headers;
    const span = tracing.start(`${request.method} ${route}`, {
      kind: 'server',
      isRoot: true,
      link: typeof traceparent === 'string' ? traceparent : undefined,
      attributes: {
        'http.request.method': request.method,
        'http.route': route,
        'trackport.request_id': request.id,
      },
    });
    spans.set(request, span);
    // No hook is called where the caller goes away before it has the response.
    reply.raw.once('close', () => end(request, reply, 'aborted'));
    span.run(done);
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { statusCode } = reply;
    end(request, reply, statusCode >= 500 ? errorTypeOf(request, statusCode) : undefined);
    done();
  });
}

function errorTypeOf(request: FastifyRequest, status: number): string {
  return String(request.logFacts?.['code'] ?? status);
}
