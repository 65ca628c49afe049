import { escapePointer, isRecord } from '#shared/text/json.ts';
import type { Difference, Impact } from './change.ts';
import { usageOf } from './openapi-usage.ts';
import type { Direction, Usage } from './openapi-usage.ts';

type Judge = (difference: Difference) => Impact;

const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);
/** Words for people, and what is shown to them. */
const PROSE = new Set(['description', 'summary', 'title', 'example', 'examples', 'externalDocs']);
/** Values, whatever they look like. */
const DATA = new Set(['default', 'const']);
/** What stands below these is named by the owner. */
const NAMES = new Set(['properties', 'responses', 'schemas', 'definitions', 'patternProperties']);

/** Says what a difference of two OpenAPI documents means, where that is certain. */
export function openApiJudge(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): Judge {
  const usages = [usageOf(before), usageOf(after)];
  return (difference) => {
    const { at } = difference;
    const role = at.map((part, index) => roleOf(part, at[index - 1])).find(Boolean);
    if (at[0] === 'info' || role === 'prose') return 'compatible';
    if (role === 'data') return 'unclassified';
    return (
      operationImpact(difference) ??
      parameterImpact(difference) ??
      schemaImpact(difference, directionsOf(at, usages)) ??
      'unclassified'
    );
  };
}

/** Paths, operations and responses. */
function operationImpact({ at, kind }: Difference): Impact | undefined {
  const [root, , method = '', part] = at;
  if (root !== 'paths' || kind === 'changed') return undefined;
  const isOperation = METHODS.has(method);
  if (at.length === 2 || (at.length === 3 && isOperation))
    return kind === 'removed' ? 'breaking' : 'compatible';
  const isResponse = at.length === 5 && isOperation && part === 'responses';
  return isResponse && kind === 'removed' ? 'breaking' : undefined;
}

function parameterImpact({ at, kind, before, after }: Difference): Impact | undefined {
  if (at[0] !== 'paths') return undefined;
  if (at.at(-2) === 'parameters' && kind === 'added' && isRecord(after) && !('$ref' in after))
    return after['required'] === true ? 'breaking' : 'compatible';
  const isOfParameter = at.at(-3) === 'parameters' || at.at(-2) === 'requestBody';
  if (!isOfParameter || at.at(-1) !== 'required') return undefined;
  if (after === true) return 'breaking';
  return before === true ? 'compatible' : undefined;
}

type Directions = ReadonlySet<Direction>;

/** What a value may be. Without a known direction nothing is certain. */
function schemaImpact(difference: Difference, directions: Directions): Impact | undefined {
  if (directions.size === 0) return undefined;
  if (isListed(difference)) return listImpact(difference, directions);
  const { at, kind } = difference;
  if (at.at(-2) === 'properties') return propertyImpact(kind, directions);
  return at.at(-1) === 'type' && kind === 'changed'
    ? typeImpact(difference, directions)
    : undefined;
}

/** An element of a list of texts or numbers, not a word of the property `enum` or `required`. */
function isListed({ at, kind, before, after }: Difference): boolean {
  const value = kind === 'removed' ? before : after;
  return kind !== 'changed' && typeof value !== 'object' && at.at(-3) !== 'properties';
}

function listImpact({ at, kind }: Difference, directions: Directions): Impact | undefined {
  const list = at.at(-2);
  if (list === 'enum') return narrowing(kind === 'removed', directions);
  return list === 'required' ? narrowing(kind === 'added', directions) : undefined;
}

function propertyImpact(kind: Difference['kind'], directions: Directions): Impact | undefined {
  if (kind === 'added') return 'compatible';
  return kind === 'removed' && directions.has('response') ? 'breaking' : undefined;
}

/** Senders are hurt by what narrows, whoever reads is not; the other way round nobody can say. */
function narrowing(isNarrower: boolean, directions: Directions): Impact | undefined {
  if (isNarrower) return directions.has('request') ? 'breaking' : 'compatible';
  return directions.has('response') ? undefined : 'compatible';
}

function typeImpact({ before, after }: Difference, directions: Directions): Impact | undefined {
  if (typeof before !== 'string' || typeof after !== 'string') return undefined;
  const isWider = before === 'integer' && after === 'number';
  const isNarrower = before === 'number' && after === 'integer';
  if (isWider && !directions.has('response')) return 'compatible';
  if (isNarrower && !directions.has('request')) return 'compatible';
  return 'breaking';
}

/** Who is concerned by a place: by where it stands, or by who refers to the definition that it is in. */
function directionsOf(at: readonly string[], usages: readonly Usage[]): Directions {
  if (at[0] === 'paths') return new Set(directionInPaths(at));
  const name = (length: number): string => at.slice(0, length).map(escapePointer).join('/');
  const length = at[0] === 'components' ? 3 : 2;
  return new Set(usages.flatMap((usage) => [...(usage.get(name(length)) ?? [])]));
}

function directionInPaths(at: readonly string[]): Direction[] {
  if (at.includes('callbacks')) return [];
  const turn = METHODS.has(at[2] ?? '') ? at[3] : at[2];
  if (turn === 'responses') return ['response'];
  return turn === 'parameters' || turn === 'requestBody' ? ['request'] : [];
}

/** What is no part of the agreement, and what only looks like it. */
function roleOf(part: string, before = ''): 'prose' | 'data' | undefined {
  if (NAMES.has(before)) return undefined;
  if (PROSE.has(part)) return 'prose';
  return DATA.has(part) || part.startsWith('x-') ? 'data' : undefined;
}
