import { readSpecBody, type ReadSpecBody } from '#catalog/spec/spec-body.ts';
import { readDelivery, type ReadDelivery } from '#partners/intake/read-delivery.ts';
import { type Clock, SECOND } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { parseJsonText, type JsonRules } from '#shared/text/json.ts';
import type * as functions from './body-functions.ts';
import { createThread, DEADLINE_MS, ThreadError } from './thread.ts';

/** Longer texts go to the thread. */
const INLINE_BYTES_MAX = 256 * 1024;
/** So do shorter ones with more members and elements: parsing costs by values, not by bytes. */
const INLINE_VALUES_MAX = 10_000;

/**
 * Reads of JSON that hold up nobody, whatever stands in it: what could take more than a few
 * milliseconds is parsed in a thread, and only what is needed of it comes back.
 */
export type BodyReaders = {
  /** As `parseJsonText`, which it is for most texts. */
  parse: (bytes: Buffer, rules: JsonRules) => unknown;
  specBody: ReadSpecBody;
  delivery: ReadDelivery;
};

/** All throw `overloaded` when the thread is. */
export function createBodyReaders({ clock }: { clock: Pick<Clock, 'sleep'> }): BodyReaders {
  const module = new URL('body-functions.ts', import.meta.url);
  const thread = createThread<typeof functions>({ module, clock });
  return {
    parse: (bytes, rules) =>
      isLight(bytes)
        ? parseJsonText(bytes, rules)
        : thread.run('parse', { bytes, rules }).catch(refuseThread),
    specBody: (bytes) =>
      isLight(bytes) ? readSpecBody(bytes) : thread.run('specBody', bytes).catch(refuseThread),
    delivery: (bytes, fields) =>
      isLight(bytes)
        ? readDelivery(bytes, fields)
        : thread.run('delivery', { bytes, fields }).catch(refuseThread),
  };
}

/** True for what is parsed in a few milliseconds, whatever it is. Texts full of commas are not. */
function isLight(bytes: Uint8Array): boolean {
  if (bytes.length <= INLINE_VALUES_MAX) return true;
  if (bytes.length > INLINE_BYTES_MAX) return false;
  let values = 0;
  for (const byte of bytes) if (byte === 0x2c || byte === 0x5b || byte === 0x7b) values += 1;
  return values <= INLINE_VALUES_MAX;
}

/** Why a thread ended is nothing that the caller could mend. */
function refuseThread(error: unknown): never {
  if (!(error instanceof ThreadError)) throw error;
  throw new TrackportError('overloaded', {
    detail: 'The body could not be read in time.',
    retryAfterSeconds: DEADLINE_MS / SECOND,
    cause: error,
  });
}
