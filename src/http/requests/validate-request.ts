import type { FastifyRequest, onRequestHookHandler, RouteOptions } from 'fastify';
import { z } from 'zod';
import { type FieldProblem, validationFailed } from '#shared/errors.ts';
import { isRecord } from '#shared/text/json.ts';
import { checkFields, namesOf, type Part, PROBLEMS_MAX } from '#shared/field-problems.ts';
import { isBodilessRoute } from './read-body.ts';

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
  { config }: RouteOptions,
  request: FastifyRequest,
  problems: readonly FieldProblem[],
): FieldProblem[] {
  const further = config?.check?.(request) ?? [];
  const known = new Set(problems.map(placeOf));
  return further.filter((one) => !known.has(placeOf(one)));
}

function placeOf({ pointer, parameter, header }: FieldProblem): string {
  return JSON.stringify([pointer, parameter, header]);
}

/** The headers that a schema names, in its spelling: Node's has small letters only. */
function headersFor(schema: z.ZodType, { headers }: FastifyRequest): Record<string, unknown> {
  const named = namesOf(schema).map((name) => [name, headers[name.toLowerCase()]] as const);
  return Object.fromEntries(named.filter(([, value]) => value !== undefined));
}
