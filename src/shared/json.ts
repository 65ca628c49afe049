import { TrackportError } from './errors.ts';

/** Objects and arrays may nest this deep (the contract's section 1). */
export const JSON_DEPTH_MAX = 64;

/**
 * One JSON text from raw bytes: UTF-8 (one byte order mark is dropped), at most 64 levels, no
 * `__proto__` key in any spelling. Integers that a double cannot hold become their decimal text,
 * so that an id never changes on its way through.
 * @throws {malformed-json} for anything else
 */
export function parseJsonText(bytes: Uint8Array): unknown {
  const text = decodeUtf8(bytes);
  if (isTooDeep(text)) refuseJson(`The JSON nests deeper than ${JSON_DEPTH_MAX} levels.`);
  try {
    return JSON.parse(text, revive);
  } catch (error) {
    if (error instanceof TrackportError) throw error;
    return refuseJson('The body is not one JSON text.');
  }
}

function revive(key: string, value: unknown, context?: { source?: string }): unknown {
  if (key === '__proto__') refuseJson('The JSON has a `__proto__` key.');
  const source = context?.source;
  if (typeof value === 'number' && !Number.isSafeInteger(value) && source && /^-?\d+$/.test(source))
    return source;
  return value;
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return refuseJson('The body is not UTF-8.');
  }
}

/** Looks at brackets outside strings only, so that it is linear and needs no parser. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = endOfString(text, at);
    else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > JSON_DEPTH_MAX) return true;
    } else if (code === 0x5d || code === 0x7d) depth -= 1;
  }
  return false;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) at += 1;
    else if (code === 0x22) return at;
  }
  return text.length;
}

function refuseJson(detail: string): never {
  throw new TrackportError('malformed-json', { detail });
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
