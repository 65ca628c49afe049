import { refuse, TrackportError } from '#shared/errors.ts';
import { parseJsonText } from '#shared/text/json.ts';
import { type PartnerEvent, readEvent } from '../event.ts';
import type { Partner } from '../partner.ts';
import { splitBatch, trimJson } from './split-batch.ts';

/** A batch may hold this many events. */
const BATCH_EVENTS_MAX = 500;

/** Where the partner's events hold what. */
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
