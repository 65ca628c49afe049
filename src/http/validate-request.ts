import type { FastifyRequest, HookHandlerDoneFunction, RouteOptions } from 'fastify';
import { LRUCache } from 'lru-cache';
import * as z from 'zod';
import { validationFailed } from '#shared/errors.ts';
import type { FieldProblem } from '#shared/errors.ts';
import { namesOf, problemsOf, type Part } from './field-problems.ts';
import { fieldWords } from './field-words.ts';

/** The parts of a request in the order in which their mistakes are listed. */
const parts: readonly Part[] = ['params', 'querystring', 'headers', 'body'];

type Check = { part: Part; schema: z.ZodType };
/** What a URL tells once it was checked: the same for every request, which share it. */
type Told = { params: unknown; query: unknown };

const noQuery = z.strictObject({});
/** Per route. Clients that poll send the same few URLs. */
const KNOWN_URLS_MAX = 500;

/**
 * A hook that checks every part that the route's schema names and puts what zod made of it in its
 * place. All mistakes of all parts come in one answer. A route with a schema takes no query
 * parameter that it does not name, unless its `config.freeQuery` says so.
 * Fastify's own validation stops at the first wrong part, so it is not used.
 */
export function createRequestValidator(route: RouteOptions) {
  const checks = checksOf(route);
  if (checks.length === 0) return undefined;
  const isTold = checks.every(({ part }) => part === 'querystring' || part === 'params');
  const takesNoQuery = !route.config?.check && checks.every(({ schema }) => schema === noQuery);
  const known = new LRUCache<string, Told>({ max: KNOWN_URLS_MAX });
  return (request: FastifyRequest, _reply: unknown, done: HookHandlerDoneFunction): void => {
    if (takesNoQuery && isEmpty(request.query as object)) {
      done();
      return;
    }
    const url = request.raw.url ?? '';
    const remembered = isTold ? known.get(url) : undefined;
    if (remembered !== undefined) {
      Object.assign(request, remembered);
      done();
      return;
    }
    const problems = checks.flatMap((check) => applyCheck(request, check));
    problems.push(...furtherProblems(route, request, problems));
    if (problems.length > 0) {
      done(validationFailed(problems));
      return;
    }
    if (isTold) known.set(url, { params: request.params, query: request.query });
    done();
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
  const { schema } = route;
  if (!schema) return [];
  const checks: Check[] = [];
  for (const part of parts) {
    const found = schema[part];
    if (part === 'body' && route.config?.signedBody === true) continue;
    if (found instanceof z.ZodType) {
      if (part !== 'params' || !acceptsAnyText(found)) checks.push({ part, schema: found });
    } else if (part === 'querystring' && route.config?.freeQuery !== true)
      checks.push({ part, schema: noQuery });
  }
  return checks;
}

/** Path parameters are text already: a schema that only names them has nothing to check. */
function acceptsAnyText(schema: z.ZodType): boolean {
  if (!(schema instanceof z.ZodObject)) return false;
  const members: unknown[] = Object.values(schema.shape);
  return members.every(
    (member) => member instanceof z.ZodString && (member.def.checks ?? []).length === 0,
  );
}

function isEmpty(query: object): boolean {
  for (const _name in query) return false;
  return true;
}

function applyCheck(request: FastifyRequest, { part, schema }: Check): FieldProblem[] {
  const slot = part === 'querystring' ? 'query' : part;
  const given: unknown = part === 'headers' ? headersFor(schema, request) : request[slot];
  const result = schema.safeParse(given, { error: fieldWords });
  if (!result.success)
    return result.error.issues.flatMap((issue) => problemsOf({ part, schema, given }, issue));
  if (part !== 'headers') Object.assign(request, { [slot]: result.data });
  return [];
}

/** What the route itself finds wrong, of places that the schemas have nothing against. */
function furtherProblems(
  { config }: RouteOptions,
  request: FastifyRequest,
  problems: readonly FieldProblem[],
): FieldProblem[] {
  const further = config?.check?.(request) ?? [];
  return further.filter((one) => !problems.some((known) => placeOf(known) === placeOf(one)));
}

function placeOf({ pointer, parameter, header }: FieldProblem): string {
  return JSON.stringify([pointer, parameter, header]);
}

/** The headers that a schema names, in its spelling: Node's has small letters only. */
function headersFor(schema: z.ZodType, { headers }: FastifyRequest): Record<string, unknown> {
  const given = namesOf(schema).map((name) => [name, headers[name.toLowerCase()]] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}
