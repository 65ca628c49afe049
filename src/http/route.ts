/** One description of a route: its schemas, checks and document come of it. */
import type { FastifyRequest, onRequestHookHandler, RouteOptions } from 'fastify';
import { z } from 'zod';
import type { Scope } from '#access/tokens.ts';
import { type ErrorCode, type FieldProblem, validationFailed } from '#shared/errors.ts';
import { checkFields, namesOf, type Part, PROBLEMS_MAX } from '#shared/field-problems.ts';
import { isRecord } from '#shared/text/json.ts';

/** Ways to authenticate, as openapi.json names them. */
export type SecurityScheme =
  | 'ApiKey'
  | 'Bearer'
  | 'PartnerSignature'
  | 'VendorSignature'
  | 'WebhookSignature'
  | 'TrackerSignature';

/**
 * Without a schema the response has no body (204). `mediaTypes` are by default JSON alone; what comes as one of
 * `others` has a schema of its own.
 */
type Success = {
  description: string;
  schema?: z.ZodType;
  mediaTypes?: readonly string[];
  others?: Readonly<Record<string, z.ZodType>>;
};

/** A route in openapi.json, but for its schemas. */
export type RouteDescription = {
  tag: string;
  operationId: string;
  summary: string;
  description?: string;
  /** The scope that a bearer token must have. */
  scope?: Scope;
  /** Of several, one will do. Default: with a scope a bearer token, else no credential is needed. */
  security?: SecurityScheme | readonly SecurityScheme[];
  /** Content of a raw body, which is read once its signature was checked. */
  signedBody?: z.ZodType;
  /** Successful responses by status. */
  ok: Readonly<Record<number, Success>>;
  /** The route honours `If-None-Match`. */
  notModified?: boolean;
  /** Names of the headers of successful responses, explained in `build-document.ts`, beside those of all. */
  headers?: readonly string[];
  /** Headers of problems by name, each with its statuses. */
  problemHeaders?: Readonly<Record<string, readonly number[]>>;
  /** The codes of this route, beside those that its method and credential bring along. */
  problems: readonly ErrorCode[];
};

type RequestSchemas = {
  params?: z.ZodType;
  querystring?: z.ZodType;
  headers?: z.ZodType;
  body?: z.ZodType;
};

type Route<R extends RequestSchemas> = RouteDescription & {
  request?: R;
  /** Ignore query parameters that are not named instead of refusing them. */
  freeQuery?: boolean;
  /** Bytes; default 1 MiB. */
  bodyLimit?: number;
  /** Headers of every success, in the spelling of openapi.json. Names in `headers` are those of others. */
  sends?: Readonly<Record<string, string>>;
  /** Successes are logged at `debug`, as those of reads are. */
  isRoutine?: boolean;
};

type Responses<S extends Readonly<Record<number, Success>>> = {
  [K in keyof S]: S[K] extends { schema: z.ZodType } ? S[K]['schema'] : never;
};

/** The options of a route: its schemas, which `validateRequests` holds requests to, and all that openapi.json says. */
export function describeRoute<const R extends RequestSchemas, const S extends Route<R>['ok']>({
  request,
  freeQuery,
  bodyLimit,
  isRoutine,
  sends = {},
  headers = [],
  ...rest
}: Route<R> & { ok: S }) {
  const described: RouteDescription = { ...rest, headers: [...Object.keys(sends), ...headers] };
  const bodies = Object.entries(described.ok).filter(([, { schema }]) => schema);
  return {
    bodyLimit,
    config: { freeQuery, isRoutine, sends, scope: rest.scope, described },
    schema: {
      ...(request as R),
      response: Object.fromEntries(
        bodies.map(([status, { schema }]) => [status, schema]),
      ) as Responses<S>,
    },
  };
}

/** Headers of every response to the holder of a key. */
export const keyHeaders = ['RateLimit-Policy', 'RateLimit', 'Key-Expires'] as const;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Query parameters that the schema does not name are ignored instead of refused. */
    freeQuery?: boolean;
    /** The route looks at its body itself. */
    freeBody?: boolean;
    /**
     * Finds what no schema can know, such as words of the configuration, so that it is reported
     * together with the rest. A part that its schema refused is as it was given, and can be anything.
     * A call with an `Idempotency-Key` and nothing else wrong is not asked: see `mayBeRepeat`.
     */
    check?: (request: FastifyRequest) => FieldProblem[];
    /** Headers of every success. */
    sends?: Readonly<Record<string, string>>;
    /** Successes are logged at `debug`, as those of reads are. */
    isRoutine?: boolean;
    /** It responds while the service is overloaded or stopping, too. */
    isOperation?: boolean;
    /** The scope that a bearer token must have: `requireBearer` and `requireCatalogAccess` refuse by it. */
    scope?: Scope;
    /** All that openapi.json says of it. */
    described?: RouteDescription;
  }
}

/** True for methods whose body means nothing, and is never looked at (RFC 9110 section 9.3.1). */
export function isBodiless(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** True for a route all of whose methods are such. */
export function isBodilessRoute({ method }: Pick<RouteOptions, 'method'>): boolean {
  return [method].flat().every(isBodiless);
}

/** The parts of a request in the order in which their mistakes are listed. */
const parts: readonly Part[] = ['params', 'querystring', 'headers', 'body'];

type Check = { part: Part; schema: z.ZodType };

const noQuery = z.strictObject({});
/** Of a request that takes none: what nobody would look at is refused, unless it is empty. */
const noBody = z.unknown().refine(isEmptyBody, {
  error: 'must be left out: what this call needs stands in its address',
  params: { code: 'unknown' },
});

/**
 * Has the requests of a route checked: as soon as the credential is known to be good, or, where there
 * is a body, when it was read.
 */
export function validateRequests(route: RouteOptions): void {
  const validate = createRequestValidator(route);
  if (!validate) return;
  if (isBodilessRoute(route)) route.onRequest = [...[route.onRequest ?? []].flat(), validate];
  else route.preHandler = [validate, ...[route.preHandler ?? []].flat()];
}

/**
 * A hook that checks every part that the route's schema names and puts what zod made of it in its
 * place. All mistakes of all parts come in one response. A route with a schema takes no query
 * parameter that it does not name, unless its `config.freeQuery` says so.
 * Fastify's own validation stops at the first wrong part, so it is not used.
 */
function createRequestValidator(route: RouteOptions): onRequestHookHandler | undefined {
  const checks = checksOf(route);
  if (checks.length === 0) return undefined;
  return (request, _reply, done) => {
    const problems = checks.flatMap((check) => applyCheck(request, check));
    problems.push(...furtherProblems(route, request, problems));
    if (problems.length > 0) done(validationFailed(bounded(problems)));
    else done();
  };
}

/** The options of a route with what it finds wrong itself: see `config.check`. */
export function withCheck<T extends { config: object }>(
  route: T,
  check: (request: FastifyRequest) => FieldProblem[],
) {
  return { ...route, config: { ...route.config, check } };
}

function checksOf(route: RouteOptions): Check[] {
  if (!route.schema) return [];
  return parts.flatMap((part) => {
    const schema = schemaFor(route, part);
    return schema ? [{ part, schema }] : [];
  });
}

/** The schema of a part; undefined where anything will do. */
function schemaFor(route: RouteOptions, part: Part): z.ZodType | undefined {
  const { config = {} } = route;
  if (part === 'body' && config.freeBody === true) return undefined;
  const named = route.schema?.[part];
  if (named instanceof z.ZodType) return named;
  if (part === 'querystring') return config.freeQuery === true ? undefined : noQuery;
  return part === 'body' && !isBodilessRoute(route) ? noBody : undefined;
}

/** Raw bytes belong to the route, which wants them so. */
function isEmptyBody(body: unknown): boolean {
  if (body === undefined || Buffer.isBuffer(body)) return true;
  return isRecord(body) && Object.keys(body).length === 0;
}

function applyCheck(request: FastifyRequest, { part, schema }: Check): FieldProblem[] {
  const slot = part === 'querystring' ? 'query' : part;
  const sent: unknown = part === 'headers' ? headersFor(schema, request) : request[slot];
  const checked = checkFields(schema, part, sent);
  if ('problems' in checked) return checked.problems;
  if (part !== 'headers') Object.assign(request, { [slot]: checked.value });
  return [];
}

/** Ten thousand entries would help nobody, and cost us all their time. */
function bounded(problems: FieldProblem[]): FieldProblem[] {
  const next = problems[PROBLEMS_MAX];
  if (!next) return problems;
  const detail = `More is wrong than the first ${PROBLEMS_MAX} parts: this one is the next.`;
  return [...problems.slice(0, PROBLEMS_MAX), { ...next, code: 'more', detail }];
}

/** Problems that the route itself finds, in places that the schemas have nothing against. */
function furtherProblems(
  route: RouteOptions,
  request: FastifyRequest,
  problems: readonly FieldProblem[],
): FieldProblem[] {
  const { check } = route.config ?? {};
  if (!check || (problems.length === 0 && mayBeRepeat(route, request))) return [];
  const known = new Set(problems.map(placeOf));
  return check(request).filter((one) => !known.has(placeOf(one)));
}

/**
 * A repeat is due its first response, whatever clock and configuration say by now: a use case that takes a key
 * checks both itself, behind the stored responses.
 */
function mayBeRepeat(route: RouteOptions, request: FastifyRequest): boolean {
  const schema = schemaFor(route, 'headers');
  return schema !== undefined && 'Idempotency-Key' in headersFor(schema, request);
}

function placeOf({ pointer, parameter, header }: FieldProblem): string {
  return JSON.stringify([pointer, parameter, header]);
}

/** The headers that a schema names, in its spelling: Node's has small letters only. */
function headersFor(schema: z.ZodType, { headers }: FastifyRequest): Record<string, unknown> {
  const named = namesOf(schema).map((name) => [name, headers[name.toLowerCase()]] as const);
  return Object.fromEntries(named.filter(([, value]) => value !== undefined));
}
