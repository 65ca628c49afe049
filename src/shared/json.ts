import { TrackportError } from './errors.ts';

/** Objects and arrays may nest this deep. */
const JSON_DEPTH_MAX = 64;

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
 * `__proto__` key in any spelling. Integers that a double cannot hold become their decimal text,
 * so that an id never changes on its way through.
 * @throws {malformed-json} for anything else
 * @throws {payload-too-large} for more than `valuesMax` values
 */
export function parseJsonText(bytes: Uint8Array, rules: JsonRules = {}): unknown {
  const text = decodeUtf8(bytes);
  const { depthMax = JSON_DEPTH_MAX, valuesMax = Infinity } = rules;
  const { values, hasLongNumbers } = scan(text, depthMax);
  if (values > valuesMax) refuseSize(valuesMax);
  const revive = rules.exactNumbers === true ? reviveExactly : reviveIds;
  try {
    // A reviver takes ten times as long, and nearly no text has anything for it.
    return hasLongNumbers || mayNameProto(text) ? JSON.parse(text, revive) : JSON.parse(text);
  } catch (error) {
    if (error instanceof TrackportError) throw error;
    return refuseJson('This is not one JSON text.');
  }
}

type ReviverContext = { source?: string };

function reviveIds(key: string, value: unknown, context?: ReviverContext): unknown {
  if (key === '__proto__') refuseJson('The JSON has a `__proto__` key.');
  const source = context?.source;
  if (typeof value === 'number' && !Number.isSafeInteger(value) && source && /^-?\d+$/.test(source))
    return source;
  return value;
}

const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => object };

function reviveExactly(key: string, value: unknown, context?: ReviverContext): unknown {
  if (key === '__proto__') refuseJson('The JSON has a `__proto__` key.');
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined || isExact(value, source)) return value;
  return rawJSON(source);
}

/** A double keeps 15 significant digits of every number in its range. */
function isExact(value: number, source: string): boolean {
  if (String(value) === source) return true;
  const digits = source.replace(/[eE].*$/, '').replaceAll(/[^\d]/g, '');
  const significant = digits.replace(/^0+/, '');
  const underflowed = value === 0 && significant !== '';
  return significant.length <= 15 && Number.isFinite(value) && !underflowed;
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return refuseJson('This is not UTF-8.');
  }
}

/** True for every text with a `__proto__` key, in whatever spelling, and for few others. */
function mayNameProto(text: string): boolean {
  return text.includes('__proto__') || /\\u00[567]/.test(text);
}

type Shape = {
  /** Members and elements. */
  values: number;
  /** Numbers of more than 15 characters or with an exponent: no other can change in a double. */
  hasLongNumbers: boolean;
};

/** Looks at numbers and at punctuation outside strings, so that it is linear and needs no parser. */
function scan(text: string, depthMax: number): Shape {
  let depth = 0;
  let values = 0;
  let hasLongNumbers = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = endOfString(text, at);
    else if (code === 0x2c) values += 1;
    else if (opens(code)) {
      depth += 1;
      values += 1;
      if (depth > depthMax) refuseJson(`The JSON nests deeper than ${depthMax} levels.`);
    } else if (closes(code)) depth -= 1;
    else if (isDigit(code)) {
      const end = endOfDigits(text, at);
      hasLongNumbers ||= end - at > EXACT_CHARACTERS_MAX || isExponent(text.charCodeAt(end));
      at = end - 1;
    }
  }
  return { values, hasLongNumbers };
}

const EXACT_CHARACTERS_MAX = 15;

/** Where a run of digits and points ends. */
function endOfDigits(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (!isDigit(code) && code !== 0x2e) return at;
  }
  return text.length;
}

function opens(code: number): boolean {
  return code === 0x5b || code === 0x7b;
}

function closes(code: number): boolean {
  return code === 0x5d || code === 0x7d;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isExponent(code: number): boolean {
  return code === 0x65 || code === 0x45;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) at += 1;
    else if (code === 0x22) return at;
  }
  return text.length;
}

function refuseSize(valuesMax: number): never {
  throw new TrackportError('payload-too-large', {
    detail: `The JSON has more than ${valuesMax} members and elements.`,
  });
}

function refuseJson(detail: string): never {
  throw new TrackportError('malformed-json', { detail });
}

/** An object as JSON and YAML have it: neither a list nor null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The value at a JSON Pointer (RFC 6901), or undefined when nothing is there.
 * Only own properties count, so that a pointer can never reach a prototype.
 */
export function valueAt(document: unknown, pointer: string): unknown {
  if (pointer === '') return document;
  let value = document;
  for (const part of pointer.slice(1).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}
