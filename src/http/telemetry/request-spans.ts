import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Span, Tracing } from '#shared/tracing.ts';
import type { HttpApp } from '../http-app.ts';
import { routeOf } from './request-log.ts';

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
    // Where the caller goes away before it has the response, no hook is called.
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
