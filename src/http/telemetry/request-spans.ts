import type { FastifyRequest } from 'fastify';
import type { Span, Tracing } from '#shared/tracing.ts';
import type { HttpApp } from '../http-app.ts';
import { routeOf } from './request-log.ts';

/**
 * One span per request, by its route's template; no path, query, header or body. Anybody can send a
 * `traceparent`: it is linked, and the trace and whether it is recorded are our own.
 */
export function traceRequests(app: HttpApp, tracing: Tracing): void {
  const spans = new WeakMap<FastifyRequest, Span>();
  app.addHook('onRequest', (request, _reply, done) => {
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
    span.run(done);
  });
  app.addHook('onResponse', (request, reply, done) => {
    const span = spans.get(request);
    const receiptId = request.logFacts?.['receiptId'];
    span?.set({
      'http.response.status_code': reply.statusCode,
      ...(receiptId !== undefined && { 'trackport.receipt_id': receiptId }),
    });
    span?.end(reply.statusCode >= 500 ? errorTypeOf(request, reply.statusCode) : undefined);
    done();
  });
}

function errorTypeOf(request: FastifyRequest, status: number): string {
  return String(request.logFacts?.['code'] ?? status);
}
