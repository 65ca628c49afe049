import { refuse, TrackportError } from '#shared/errors.ts';
import { parseJsonText } from '#shared/text/json.ts';
import { type PartnerEvent, readEvent } from './event.ts';
import type { Partner } from './partner.ts';

/** A batch may hold this many events. */
const BATCH_EVENTS_MAX = 500;

/** Places of the fields in the partner's events. */
export type DeliveryFields = Partner['fields'];

/** One element of a delivery. */
export type DeliveredEvent = {
  /** Undefined for anything but an object. */
  event: PartnerEvent | undefined;
  /** Its bytes in the body: from `start` up to, and without, `end`. */
  start: number;
  end: number;
};

/** `readDelivery`, wherever it runs. */
export type ReadDelivery = (
  body: Buffer,
  fields: DeliveryFields,
  signal?: AbortSignal,
) => DeliveredEvent[] | Promise<DeliveredEvent[]>;

/**
 * The events of a verified body, of each only what the fields name.
 * @throws {malformed-json} @throws {validation-failed} the body is no object and no array
 * @throws {payload-too-large} more than 500 events
 */
export function readDelivery(body: Uint8Array, fields: DeliveryFields): DeliveredEvent[] {
  const value = parseJsonText(body);
  if (typeof value !== 'object' || value === null)
    refuse([{ pointer: '#', code: 'type', detail: 'The body must be an object or an array.' }]);
  const whole = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const elements: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (elements.length > BATCH_EVENTS_MAX)
    throw new TrackportError('payload-too-large', {
      detail: `A batch may hold at most ${BATCH_EVENTS_MAX} events.`,
    });
  const cuts = Array.isArray(value) ? splitBatch(whole) : [trimJson(whole)];
  return elements.map((element, index) => {
    const bytes = cuts[index] ?? whole.subarray(0, 0);
    const start = bytes.byteOffset - whole.byteOffset;
    return { event: readEvent(fields, element), start, end: start + bytes.length };
  });
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const OPENING = new Set([OPENING_BRACKET, 0x7b]); // [ {
const CLOSING = new Set([0x5d, 0x7d]); // ] }
const SPACE = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * Cuts the elements of a JSON array out of its bytes, without the white space around them. Linear,
 * and without a copy. The bytes must be one valid JSON text with an array at the top.
 */
export function splitBatch(bytes: Buffer): Buffer[] {
  const elements: Buffer[] = [];
  const array = trimJson(bytes);
  let depth = 0;
  let start = 1;
  for (let at = 0; at < array.length; at += 1) {
    const byte = array[at] as number;
    if (byte === QUOTE) at = endOfString(array, at);
    else if (OPENING.has(byte)) depth += 1;
    else if (CLOSING.has(byte)) depth -= 1;
    else if (byte === COMMA && depth === 1) {
      elements.push(trimJson(array.subarray(start, at)));
      start = at + 1;
    }
  }
  const last = trimJson(array.subarray(start, -1));
  return last.length === 0 ? elements : [...elements, last];
}

/** True when the bytes, one valid JSON text, are those of an array. */
export function isArray(bytes: Buffer): boolean {
  return trimJson(bytes)[0] === OPENING_BRACKET;
}

/** A JSON text's own bytes: without white space around it and without a byte order mark. */
export function trimJson(bytes: Buffer): Buffer {
  let start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  let end = bytes.length;
  while (start < end && SPACE.has(bytes[start] as number)) start += 1;
  while (end > start && SPACE.has(bytes[end - 1] as number)) end -= 1;
  return bytes.subarray(start, end);
}

function endOfString(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === BACKSLASH) at += 1;
    else if (byte === QUOTE) return at;
  }
  return bytes.length;
}
