import { TrackportError } from '../errors.ts';
import { repeatedNameIn, shapeOf } from './json-shape.ts';

/** Objects and arrays may nest this deep. */
const JSON_DEPTH_MAX = 64;
const BYTE_ORDER_MARK = '\uFEFF';
/** Of a name in the detail of a refusal. */
const SHOWN_CHARACTERS_MAX = 64;

export type JsonRules = {
  /** Default 64. */
  depthMax?: number;
  /** Members and elements in all; default unbounded. */
  valuesMax?: number;
  /**
   * Numbers that a double would change come as `JSON.rawJSON` objects, which `JSON.stringify`
   * writes digit by digit as they came. Default: such integers become their decimal text.
   */
  exactNumbers?: boolean;
};

/**
 * One JSON text from raw bytes: UTF-8 (one byte order mark is dropped), at most 64 levels, no
 * `__proto__` key and no name twice in one object, in any spelling: parsers disagree about which of
 * the two counts (RFC 8259 section 4). Integers that a double cannot hold become their decimal text,
 * so that an id never changes on its way through.
 * @throws {malformed-json} for anything else
 * @throws {payload-too-large} for more than `valuesMax` values
 */
export function parseJsonText(bytes: Uint8Array, rules: JsonRules = {}): unknown {
  const text = decodeUtf8(bytes);
  const { depthMax = JSON_DEPTH_MAX, valuesMax = Infinity } = rules;
  const { depth, values, names, hasLongNumbers } = shapeOf(text, depthMax);
  if (depth > depthMax) refuseDepth(depthMax);
  if (values > valuesMax) refuseSize(valuesMax);
  const value = parse(text);
  if (countNames(value) !== names) refuseRepeatedName(text);
  if (!hasLongNumbers) return value;
  // A reviver takes ten times as long, and nearly no text has anything for it.
  return parse(text, rules.exactNumbers === true ? reviveExactly : reviveIds);
}

/**
 * Parses a decoded text of a sender whose word is taken: of a name that stands twice the last one
 * counts, and numbers are what a double makes of them. Half the work, which counts in a storm.
 * @throws {malformed-json}
 */
export function parseTrustedJson(given: string): unknown {
  const text = given.startsWith(BYTE_ORDER_MARK) ? given.slice(1) : given;
  const isShallow = opensAtMost(text, JSON_DEPTH_MAX);
  if (!isShallow && shapeOf(text, JSON_DEPTH_MAX).depth > JSON_DEPTH_MAX)
    refuseDepth(JSON_DEPTH_MAX);
  const value = parse(text);
  // The name can be written with escapes, too. V8 looks four times as long for more than six characters.
  if (text.includes('_proto') || text.includes(String.raw`\u`)) countNames(value);
  return value;
}

/** A text that this program wrote of what it had read with `exactNumbers`: nothing in it is to be refused. */
export function parseOwnJson(text: string): unknown {
  const { hasLongNumbers } = shapeOf(text, Infinity);
  return parse(text, hasLongNumbers ? reviveExactly : undefined);
}

/**
 * True when so few objects and arrays begin that they cannot nest deeper than that. `{/` begins none:
 * it stands in the templates of addresses, of which the tracker sends dozens.
 */
function opensAtMost(text: string, max: number): boolean {
  let left = max;
  for (const opener of ['{', '['])
    for (let at = text.indexOf(opener); at >= 0; at = text.indexOf(opener, at + 1))
      if (text[at + 1] !== '/' && (left -= 1) < 0) return false;
  return true;
}

function parse(text: string, revive?: Reviver): unknown {
  try {
    return JSON.parse(text, revive);
  } catch {
    return refuseJson('This is not one JSON text.');
  }
}

/**
 * Counts the names of all objects of a parsed text: of those that stand twice in one object the
 * parser kept one. No set of names is needed, and escapes are the parser's business.
 */
function countNames(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const element of value) if (typeof element === 'object') count += countNames(element);
    return count;
  }
  for (const name of Object.keys(value)) {
    if (name === '__proto__') refuseJson('The JSON has a `__proto__` key.');
    const member = (value as Record<string, unknown>)[name];
    count += typeof member === 'object' ? 1 + countNames(member) : 1;
  }
  return count;
}

function refuseRepeatedName(text: string): never {
  const name = repeatedNameIn(text) ?? '';
  const shown = name.slice(0, SHOWN_CHARACTERS_MAX).replaceAll(/[^\x20-\x5f\x61-\x7e]/g, '?');
  return refuseJson(`The name \`${shown}\` stands twice in one object of the JSON.`);
}

type ReviverContext = { source?: string };
type Reviver = (key: string, value: unknown, context?: ReviverContext) => unknown;

function reviveIds(_key: string, value: unknown, context?: ReviverContext): unknown {
  const source = context?.source;
  if (typeof value === 'number' && !Number.isSafeInteger(value) && source && /^-?\d+$/.test(source))
    return source;
  return value;
}

function reviveExactly(_key: string, value: unknown, context?: ReviverContext): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined || isExact(value, source)) return value;
  return rawNumber(source);
}

/** A double keeps 15 significant digits of every number in its range. */
function isExact(value: number, source: string): boolean {
  if (String(value) === source) return true;
  const digits = source.replace(/[eE].*$/, '').replaceAll(/[^\d]/g, '');
  const significant = digits.replace(/^0+/, '');
  const isUnderflow = value === 0 && significant !== '';
  return significant.length <= 15 && Number.isFinite(value) && !isUnderflow;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return refuseJson('This is not UTF-8.');
  }
}

function refuseSize(valuesMax: number): never {
  throw new TrackportError('payload-too-large', {
    detail: `The JSON has more than ${valuesMax} members and elements.`,
  });
}

function refuseDepth(depthMax: number): never {
  return refuseJson(`The JSON nests deeper than ${depthMax} levels.`);
}

function refuseJson(detail: string): never {
  throw new TrackportError('malformed-json', { detail });
}

/** An object as JSON and YAML have it: neither a list nor null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A name as one part of a JSON Pointer (RFC 6901 section 3). */
export function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

const POINTER_CHARACTERS_MAX = 1000;

/**
 * A pointer, or that of the nearest place above with one of at most 1,000 characters: a name has any length, and a
 * thousand places can lie below it.
 */
export function boundPointer(pointer: string): string {
  if (pointer.length <= POINTER_CHARACTERS_MAX) return pointer;
  return pointer.slice(0, pointer.lastIndexOf('/', POINTER_CHARACTERS_MAX));
}

/** The name that such a part stands for. */
export function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** The name that a part of a pointer stands for where that is a URI's fragment (RFC 6901 section 6). */
export function unescapeFragment(part: string): string {
  return unescapePointer(decodePercent(part) ?? part);
}

/** A part of an address without its percent escapes; undefined where one of them is malformed. */
export function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/**
 * The value at a path of names and indices, or undefined when nothing is there.
 * Only own properties count, so that a path can never reach a prototype.
 */
export function lookUp(tree: unknown, path: readonly PropertyKey[]): unknown {
  let value = tree;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

/** The value at a JSON Pointer (RFC 6901); undefined where there is none. */
export function valueAt(document: unknown, pointer: string): unknown {
  return lookUp(document, pointer.split('/').slice(1).map(unescapePointer));
}

/** Of `JSON` what the compiler's library does not name yet. */
const raw = JSON as unknown as {
  rawJSON: (text: string) => object;
  isRawJSON: (value: object) => boolean;
};

/** A number that `JSON.stringify` writes digit by digit as `text` has it, though no double can hold it. */
export function rawNumber(text: string): object {
  return raw.rawJSON(text);
}

/** True for what `rawNumber` made, as `parseJsonText` does with `exactNumbers`. */
export function isRawNumber(value: object): boolean {
  return raw.isRawJSON(value);
}
