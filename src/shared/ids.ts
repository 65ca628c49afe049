import { randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from './clock.ts';
import { hasAtSign } from './text/at-sign.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const UNBIASED_BYTE_MAX = 248; // the greatest multiple of 62 that fits a byte

const LOGGABLE_ID = /^[\x21-\x7e]{1,128}$/;

/** Form of a partner's id, in its path as in the configuration. */
export const PARTNER_ID = /^[a-z0-9][a-z0-9-]{0,62}$/;
export const PARTNER_ID_CHARACTERS_MAX = 63;

/** Makes identifiers. An argument wherever ids are made, so that tests can fix them. */
export type NewId = () => string;

/** A random UUID (version 4). */
export const newUuid: NewId = () => randomUUID();

/**
 * Makes UUIDs that begin with the time (version 7, RFC 9562 §5.7): rows with such keys stand
 * together in an index, so that many of them touch few pages.
 */
export function createTimedIds(clock: Clock): NewId {
  return () => {
    const time = clock.now().toString(16).padStart(12, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
  };
}

/** `length` base62 characters from the operating system's generator, without bias. */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      if (byte < UNBIASED_BYTE_MAX && text.length < length) text += BASE62[byte % 62];
    }
  }
  return text;
}

/** `value` (0 to 2^32 − 1) as 6 base62 digits, most significant first. */
export function base62OfUint32(value: number): string {
  let rest = value;
  let text = '';
  for (let digit = 0; digit < 6; digit += 1) {
    text = BASE62.charAt(rest % 62) + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

/**
 * True for 1 to 128 visible ASCII characters without an at sign: an id of a caller that may stand in logs. What
 * looks like an e-mail address may not.
 */
export function isLoggableId(text: string): boolean {
  return LOGGABLE_ID.test(text) && !hasAtSign(text);
}
