import { TrackportError } from '../errors.ts';

/** Names and values of a form, in its order; line ends in values are `\n`. */
export type FormPairs = readonly (readonly [name: string, value: string])[];

/** A form of ours has a few dozen at most. */
const FIELDS_MAX = 1000;
const AMPERSAND = 0x26;

/**
 * A form as browsers send it (`application/x-www-form-urlencoded`). They write each line end as `\r\n`.
 * @throws {validation-failed} more than 1,000 fields
 */
export function parseFormText(bytes: Uint8Array): FormPairs {
  let fields = 1;
  for (const byte of bytes) if (byte === AMPERSAND) fields += 1;
  if (fields > FIELDS_MAX)
    throw new TrackportError('validation-failed', { detail: 'The form has too many fields.' });
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  const pairs = new URLSearchParams(text);
  return Array.from(pairs, ([name, value]) => [name, value.replaceAll('\r\n', '\n')] as const);
}
