import { closest, distance } from 'fastest-levenshtein';
import type { FastifyRequest, HookHandlerDoneFunction, RouteOptions } from 'fastify';
import { LRUCache } from 'lru-cache';
import * as z from 'zod';
import { validationFailed } from '#shared/errors.ts';
import type { FieldProblem } from '#shared/errors.ts';

/** The parts of a request in the order in which their mistakes are listed. */
const parts = ['params', 'querystring', 'headers', 'body'] as const;
type Part = (typeof parts)[number];

type Issue = z.core.$ZodIssue;
type Check = { part: Part; schema: z.ZodType };
/** What a URL tells once it was checked: the same for every request, which share it. */
type Told = { params: unknown; query: unknown };

const noQuery = z.strictObject({});
const NEAR_MISS_DISTANCE_MAX = 3;
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
  const takesNoQuery = checks.every(({ schema }) => schema === noQuery);
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
    if (problems.length > 0) {
      done(validationFailed(problems));
      return;
    }
    if (isTold) known.set(url, { params: request.params, query: request.query });
    done();
  };
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
  const result = schema.safeParse(given);
  if (!result.success)
    return result.error.issues.flatMap((issue) => problemsOf({ part, schema, given }, issue));
  if (part !== 'headers') Object.assign(request, { [slot]: result.data });
  return [];
}

/** The headers that a schema names, in its spelling: Node's has small letters only. */
function headersFor(schema: z.ZodType, { headers }: FastifyRequest): Record<string, unknown> {
  const given = namesOf(schema).map((name) => [name, headers[name.toLowerCase()]] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

type Context = { part: Part; schema: z.ZodType; given: unknown };

function problemsOf(context: Context, issue: Issue): FieldProblem[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => unknownKey(context, [...issue.path, key]));
  const value = valueAtPath(context.given, issue.path);
  if (Array.isArray(value) && context.part === 'querystring')
    if (issue.code === 'invalid_type' || issue.code === 'invalid_value')
      return [fieldProblem(context, issue.path, 'repeated', 'must be given only once')];
  if (value === undefined && context.given !== undefined)
    return [fieldProblem(context, issue.path, 'missing', 'is required')];
  return [fieldProblem(context, issue.path, codeOf(issue), issue.message)];
}

function codeOf(issue: Issue): string {
  if (issue.code === 'too_small' || issue.code === 'too_big') return 'out-of-range';
  const given = issue.code === 'custom' ? (issue.params?.['code'] as unknown) : undefined;
  return typeof given === 'string' ? given : 'invalid';
}

function unknownKey(context: Context, path: PropertyKey[]): FieldProblem {
  const name = String(path.at(-1));
  const names = path.length === 1 ? namesOf(context.schema) : [];
  const near = names.length > 0 ? closest(name, names) : undefined;
  const isNear =
    near !== undefined &&
    distance(name.toLowerCase(), near.toLowerCase()) <= NEAR_MISS_DISTANCE_MAX;
  const known = names.length > 0 ? ` Known here: ${names.map(quote).join(', ')}.` : '';
  const hint = isNear ? ` Did you mean ${quote(near)}?` : known;
  return fieldProblem(context, path, 'unknown', `is not known here.${hint}`);
}

function namesOf(schema: z.ZodType): string[] {
  if (schema instanceof z.ZodPipe) return namesOf(schema.in as z.ZodType);
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

function fieldProblem(
  context: Context,
  path: readonly PropertyKey[],
  ...[code, text]: [code: string, text: string]
): FieldProblem {
  const name = path.map(String).join('.');
  const end = /[.?!]$/.test(text) ? text : `${text}.`;
  const subject = name === '' ? 'The body' : quote(name);
  const detail = /^(must|is) /.test(end) ? `${subject} ${end}` : `${subject}: ${end}`;
  return { ...placeOf(context.part, path), code, detail };
}

function placeOf(part: Part, path: readonly PropertyKey[]): Partial<FieldProblem> {
  if (part === 'body')
    return { pointer: `#${path.map((key) => `/${escapePointer(key)}`).join('')}` };
  const name = String(path[0] ?? '');
  return part === 'headers' ? { header: name } : { parameter: name };
}

/** RFC 6901 escapes, then the percent-encoding of the fragment form (its section 6). */
function escapePointer(key: PropertyKey): string {
  return encodeURIComponent(String(key).replaceAll('~', '~0').replaceAll('/', '~1'));
}

/** Caller's names are echoed shortened and without control characters. */
function quote(name: string): string {
  return `\`${name.slice(0, 64).replaceAll(/[^\x20-\x5f\x61-\x7e]/g, '?')}\``;
}

function valueAtPath(given: unknown, path: readonly PropertyKey[]): unknown {
  let value = given;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}
