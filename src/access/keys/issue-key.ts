import { DAY } from '#shared/clock.ts';
import { refuse } from '#shared/errors.ts';
import { randomBase62 } from '#shared/ids.ts';
import type { Secret } from '#shared/crypto/secret.ts';
import { createApiKey, type RandomText } from './api-key.ts';
import type { Key } from '../consumers/consumer.ts';

/** Milliseconds that a key can live. */
export const LIFETIME_MS_MAX = 3650 * DAY;

/** A key as it is stored, and the text that its consumer gets to see once. */
export type IssuedKey = { stored: Key; key: Secret };

export type NewKeyFacts = {
  now: number;
  /** Subject of the actor. */
  createdBy: string;
  /** Milliseconds until it expires, at most 10 years; default: never. */
  lifetimeMs?: number;
};

/** Makes a key. @throws {validation-failed} `lifetimeMs` is out of range */
export function issueKey(deps: { random?: RandomText }, facts: NewKeyFacts): IssuedKey {
  const { now, createdBy, lifetimeMs } = facts;
  if (lifetimeMs !== undefined && !(lifetimeMs > 0 && lifetimeMs <= LIFETIME_MS_MAX))
    refuse([
      {
        pointer: '#/expires',
        code: 'out-of-range',
        detail: 'A key expires after more than 0 and at most 3650 days.',
      },
    ]);
  const { key, ...rest } = createApiKey(deps.random ?? randomBase62);
  const expiry = { ...(lifetimeMs !== undefined && { expiresAt: now + lifetimeMs }) };
  return { key, stored: { ...rest, createdBy, createdAt: now, ...expiry } };
}
