import type { ServerResponse } from 'node:http';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { ConsumerPrincipal } from '#access/keys/authenticate-key.ts';
import type { TokenPrincipal } from '#access/tokens.ts';
import type { SpecText } from '#catalog/spec/spec-body.ts';
import type { Clock } from '#shared/clock.ts';
import type { FieldProblem } from '#shared/errors.ts';
import type { Log, LogFields } from '#shared/log.ts';
import type { RouteDescription } from './openapi/describe-route.ts';
import type { ProblemPage } from './problems/problem-pages.ts';
import type { BodyHold } from './requests/body-budget.ts';
import type { ReadBody } from './requests/read-body.ts';
import type { RefusalLimiter } from './auth/refusal-limiter.ts';
import type { BearerServices, Services } from './services.ts';

/** A Fastify instance whose routes are typed by their zod schemas. */
export type HttpApp = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** A request with the response that it is to get. */
export type Exchange = { request: FastifyRequest; reply: FastifyReply };

/** What every area of routes gets beside the services. */
export type HttpContext = {
  /** The address that links and problem types use; no slash at its end; never from a request. */
  publicUrl: () => string;
  clock: Clock;
  log: Log;
  refusals: RefusalLimiter;
  /** All areas read bodies by it, so that one budget holds for all of them. */
  readBody: ReadBody;
  /** For areas that people read: failures before routing can be pages there. */
  problemPages: Pick<Set<ProblemPage>, 'add'>;
  /** What the framework refuses before a route is found can be another failure on the paths of an area. */
  earlyErrors: Set<(request: EarlyRequest, error: unknown) => unknown>;
};

/** What there is of a request for which no route was looked for. */
export type EarlyRequest = Pick<FastifyRequest, 'method' | 'raw' | 'ip'>;

/** What an area of routes works with. */
export type AreaContext = HttpContext & Services;

/** The same where there is an issuer of tokens. */
export type BearerContext = AreaContext & BearerServices;

/** Adds the routes of one area to a scope of their own. */
export type Area = (app: HttpApp, context: AreaContext) => void | Promise<void>;

/** Who called with a key, and how often it may. */
export type KeyHolder = { principal: ConsumerPrincipal; limitPerMinute: number };

/** What areas and hooks leave on a request, besides what the framework has there. */
type RequestFacts = {
  /** Fields that the request's log line gets: ids only, never personal data or secrets. */
  logFacts: LogFields | undefined;
  /**
   * Headers of whatever response the request gets: names, each with its value behind it. What is set
   * on the reply under the same name takes their place.
   */
  headersOut: string[] | undefined;
  /** See `hangUpOf`. */
  responseOut: ServerResponse | undefined;
  /** What the body holds of the budget, from the moment it is read. */
  bodyHold: BodyHold | undefined;
  /** The spec that the body held: in the body stands an empty object in its place. */
  spec: SpecText | undefined;
  /** Whose bearer token is good. */
  token: TokenPrincipal | undefined;
  /** Whose key is good, and may come here. */
  keyHolder: KeyHolder | undefined;
};

/** Has each request begin with all of them undefined, so that all have one shape. */
export function decorateRequests(app: HttpApp): void {
  const facts: RequestFacts = {
    logFacts: undefined,
    headersOut: undefined,
    responseOut: undefined,
    bodyHold: undefined,
    spec: undefined,
    token: undefined,
    keyHolder: undefined,
  };
  for (const name of Object.keys(facts)) app.decorateRequest(name, undefined);
}

declare module 'fastify' {
  interface FastifyRequest extends RequestFacts {}
  interface FastifyContextConfig {
    /** Query parameters that the schema does not name are ignored instead of refused. */
    freeQuery?: boolean;
    /** The route looks at its body itself. */
    freeBody?: boolean;
    /**
     * Finds what no schema can know, such as words of the configuration, so that it is reported
     * together with the rest. A part that its schema refused is as it was given, and can be anything.
     */
    check?: (request: FastifyRequest) => FieldProblem[];
    /** Successes are logged at `debug`, as those of reads are. */
    isRoutine?: boolean;
    /** It responds while the service is overloaded or stopping, too. */
    isOperation?: boolean;
    /** Which credential it takes, and all else that openapi.json says of it. */
    described?: RouteDescription;
  }
}
