import { SECOND } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { DEADLINE_MS, ThreadError } from './thread.ts';

/** Longer texts go to a thread. */
const INLINE_BYTES_MAX = 256 * 1024;
/** So do shorter ones with more members and elements: parsing costs by values, not by bytes. */
const INLINE_VALUES_MAX = 10_000;
/** Not worth counting: nothing that fits in here takes long. */
const UNCOUNTED_BYTES_MAX = 16 * 1024;

/** False for what is parsed in a few milliseconds, whatever it is. Texts full of commas are not. */
export function isHeavy(bytes: Uint8Array): boolean {
  if (bytes.length <= UNCOUNTED_BYTES_MAX) return false;
  if (bytes.length > INLINE_BYTES_MAX) return true;
  let values = 0;
  for (const byte of bytes) if (byte === 0x2c || byte === 0x5b || byte === 0x7b) values += 1;
  return values > INLINE_VALUES_MAX;
}

/** Why a thread ended is nothing that the caller could mend. @throws {overloaded} for that, with `detail` */
export function refuseThread(
  error: unknown,
  detail = 'The body could not be read in time.',
): never {
  if (!(error instanceof ThreadError)) throw error;
  throw new TrackportError('overloaded', {
    detail,
    retryAfterSeconds: DEADLINE_MS / SECOND,
    cause: error,
  });
}
