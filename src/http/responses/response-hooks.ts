import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import { TrackportError } from '#shared/errors.ts';
import type { Log } from '#shared/log.ts';
import type { AnsweredEarly } from './client-error.ts';
import {
  noteFailure,
  type ProblemPage,
  renderEarlyProblem,
  toTrackportError,
  uriTooLong,
} from './problem.ts';
import type { HttpApp } from '../context.ts';
import { createKnownPaths, routedPath } from '../requests/paths.ts';
import { URI_BYTES_MAX } from '../limits.ts';
import {
  createRequestMetrics,
  logRequest,
  type RefusalLog,
  routeOf,
} from '../telemetry/requests.ts';
import { securityHeaders } from './headers.ts';

/** From here on a response is a problem, with headers of its own. */
const PROBLEM_STATUS_MIN = 400;

export type ResponseHooks = {
  /** For Fastify's `frameworkErrors`: what fails before a route is found, where no hook runs. */
  onFrameworkError: (error: unknown, request: FastifyRequest, reply: FastifyReply) => void;
  /** Hooks and the error handler. Called before any route is registered. */
  install(app: HttpApp): void;
};

/**
 * Gives every response, errors of the framework included, request id, security headers, a problem
 * document on failure, a log line and a measurement.
 */
export function createResponseHooks({
  publicUrl,
  metrics,
  log,
  refusalLog,
  answeredEarly,
  corsOrigins = [],
  problemPages,
}: {
  publicUrl: () => string;
  metrics: Registry;
  log: Log;
  refusalLog: RefusalLog;
  answeredEarly: AnsweredEarly;
  corsOrigins?: readonly string[];
  problemPages: ReadonlySet<ProblemPage>;
}): ResponseHooks {
  const measure = createRequestMetrics(metrics);
  /** Made with the first response: the public address is not known before the service listens. */
  let common: Readonly<Record<string, string>> | undefined;
  const beginHeaders = (request: FastifyRequest, reply: FastifyReply): void => {
    common ??= securityHeaders(publicUrl());
    reply.headers(common).header('x-request-id', request.id);
  };
  const record = (request: FastifyRequest, reply: FastifyReply): void => {
    const completed = { request, reply, route: routeOf(request) };
    measure(completed);
    logRequest(log, refusalLog, completed);
  };
  return {
    onFrameworkError: (error, request, reply) => {
      beginHeaders(request, reply);
      void sendProblem(publicUrl(), { error, request, reply }, problemPages);
      record(request, reply);
    },
    install: (app) => {
      respondBeforeRouting(app, beginHeaders, createCors(corsOrigins));
      app.addHook('onSend', (request, reply, _payload, done) => {
        const { sends } = request.routeOptions.config;
        if (sends && reply.statusCode < PROBLEM_STATUS_MIN) reply.headers(sends);
        addCorsHeaders(request, reply);
        done();
      });
      app.addHook('onResponse', (request, reply, done) => {
        record(request, reply);
        if (!request.raw.complete) answeredEarly.set(request.raw.socket, request.raw);
        done();
      });
      app.addHook('onClose', () => refusalLog.flush());
      app.setErrorHandler<FastifyError>((error, request, reply) =>
        sendProblem(publicUrl(), { error, request, reply }),
      );
    },
  };
}

/** Last, when the reply has said what else it depends on. */
export function addCorsHeaders({ corsOut }: FastifyRequest, reply: FastifyReply): void {
  if (corsOut === undefined) return;
  const vary = reply.getHeader('vary');
  reply.headers(corsOut);
  if (vary !== undefined) reply.header('vary', `${String(vary)}, ${corsOut['vary']}`);
}

/** Responds before a credential is looked at: for paths that do not exist, preflights, and a service that stops. */
function respondBeforeRouting(
  app: HttpApp,
  beginHeaders: (request: FastifyRequest, reply: FastifyReply) => void,
  cors: Cors,
): void {
  const paths = createKnownPaths();
  let isStopping = false;
  app.addHook('onRoute', (route) => paths.add(route));
  app.addHook('preClose', (done) => {
    isStopping = true;
    done();
  });
  app.addHook('onRequest', (request, reply, done) => {
    request.responseOut = reply.raw;
    beginHeaders(request, reply);
    request.corsOut = cors.headersFor(request);
    const broken = brokenRequest(request);
    const methods = request.is404 ? paths.methodsOf(routedPath(request.url)) : undefined;
    const preflight = methods && !broken ? cors.preflight(request, methods) : undefined;
    if (preflight) {
      reply.code(204).headers(preflight).send();
      return;
    }
    const refusal =
      broken ??
      (request.is404 ? nothingHere(methods, reply) : undefined) ??
      (isStopping && request.routeOptions.config.isOperation !== true
        ? refusalWhileStopping()
        : undefined);
    if (refusal) done(refusal);
    else done();
  });
}

/** Mistakes that Node's parser lets through and HTTP does not. */
function brokenRequest({ raw }: FastifyRequest): TrackportError | undefined {
  const hosts = countHosts(raw.rawHeaders);
  if (hosts > 1 || (hosts === 0 && raw.httpVersion === '1.1')) return withoutOneHost();
  return (raw.url ?? '').length > URI_BYTES_MAX ? uriTooLong() : undefined;
}

type Failure = { error: unknown; request: FastifyRequest; reply: FastifyReply };

/** Writes the problem document of an error, or a page for people, and leaves what the log line needs. */
function sendProblem(
  publicUrl: string,
  { error, request, reply }: Failure,
  pages: Iterable<ProblemPage> = [],
) {
  const failure = toTrackportError(error);
  const context = { publicUrl, requestId: request.id };
  const failed = { target: request.raw.url, accept: request.headers.accept, error: failure };
  const problem = renderEarlyProblem(pages, context, failed);
  noteFailure({ request, reply }, failure);
  return reply.code(problem.status).headers(problem.headers).send(problem.body);
}

function nothingHere(methods: readonly string[] | undefined, reply: FastifyReply) {
  if (!methods) {
    return new TrackportError('not-found', {
      detail: 'No such path. See /docs for what there is.',
    });
  }
  const allow = methods.join(', ');
  reply.header('allow', allow);
  return new TrackportError('method-not-allowed', { detail: `This path takes: ${allow}.` });
}

/** Node keeps the first of several, and a proxy in front may have looked at another. */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    // Its length tells nearly every other name apart, without a lower-case copy of it.
    if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === 'host') count += 1;
  return count;
}

/** @see RFC 9112 §3.2 */
function withoutOneHost(): TrackportError {
  return new TrackportError('bad-request', {
    detail: 'An HTTP/1.1 request needs one `Host` header.',
  });
}

function refusalWhileStopping(): TrackportError {
  return new TrackportError('overloaded', {
    detail: 'This instance is stopping. Try again: another one will answer.',
    retryAfterSeconds: 1,
  });
}

/**
 * Cross-origin reads by browsers: `GET` of leads and the catalog for pages of some origins, and
 * nothing else. The browser's own credentials (cookies, certificates) are never requested.
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
type Cors = {
  /** Undefined where no page of another origin could read. */
  headersFor(request: FastifyRequest): Readonly<Record<string, string>> | undefined;
  /**
   * The headers of a 204, when the request is a browser's preflight for such a `GET`; `methods` are those of
   * its path.
   */
  preflight(
    request: FastifyRequest,
    methods: readonly string[],
  ): Readonly<Record<string, string>> | undefined;
};

/** As `server.cors`; stands for every origin. */
const ANY_ORIGIN = '*';

/** Those below these two, whoever registers them. */
const READABLE = /^\/api\/v1\/(?:leads|catalog)(?:\/|$)/;

/** Headers that a page may send beside those that need no permission. */
const REQUEST_HEADERS = 'Authorization, If-None-Match, Last-Event-ID, X-API-KEY';

/** Headers that a page may see beside those that every page sees. */
const RESPONSE_HEADERS = [
  'Age',
  'Cache-Status',
  'Content-Location',
  'Deprecation',
  'ETag',
  'Key-Expires',
  'Link',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Sunset',
  'WWW-Authenticate',
  'X-Request-Id',
].join(', ');

/** Time for which a browser caches a preflight. Each response is checked all the same. */
const PREFLIGHT_MAX_AGE_SECONDS = '3600';

/** `origins`: as browsers write them (`https://sales.example.com`), or `*`; none: no CORS at all. */
function createCors(origins: readonly string[]): Cors {
  const allowed = new Set(origins);
  const allowedOriginOf = ({ headers: { origin } }: FastifyRequest): string | undefined => {
    if (origin === undefined) return undefined;
    if (allowed.has(ANY_ORIGIN)) return ANY_ORIGIN;
    return allowed.has(origin) ? origin : undefined;
  };
  return {
    headersFor: (request) => {
      if (allowed.size === 0 || request.method !== 'GET') return undefined;
      const { url = '' } = request.routeOptions;
      return READABLE.test(url) ? toHeaders(allowedOriginOf(request)) : undefined;
    },
    preflight: (request, methods) => {
      const origin = allowedOriginOf(request);
      const isGetPreflight =
        request.method === 'OPTIONS' && request.headers['access-control-request-method'] === 'GET';
      if (origin === undefined || !isGetPreflight) return undefined;
      if (!READABLE.test(routedPath(request.url)) || !methods.includes('GET')) return undefined;
      return {
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'GET',
        'access-control-allow-headers': REQUEST_HEADERS,
        'access-control-max-age': PREFLIGHT_MAX_AGE_SECONDS,
        vary: 'Origin',
      };
    },
  };
}

/** Also without an origin: what a cache stores for one origin must not serve another. */
function toHeaders(origin: string | undefined): Record<string, string> {
  if (origin === undefined) return { vary: 'Origin' };
  return {
    vary: 'Origin',
    'access-control-allow-origin': origin,
    'access-control-expose-headers': RESPONSE_HEADERS,
  };
}
