import { refuse, TrackportError } from '#shared/errors.ts';
import { isLongerThan, isPlainLine, isVisible } from '#shared/text/visible.ts';
import type { Grant } from '../grant.ts';

/** A UUID. */
export type ConsumerId = string & { readonly brand: 'ConsumerId' };

/** The public part of a key: 12 base62 characters. */
export type KeyId = string & { readonly brand: 'KeyId' };

/** `disabled` can be undone, `revoked` cannot. Keys of both are refused. */
export const consumerStates = ['active', 'disabled', 'revoked'] as const;

/** A key as it is stored. Times are milliseconds since the Unix epoch. */
export type Key = {
  keyId: KeyId;
  /** SHA-256 of the whole key, the only trace of its secret. */
  digest: Buffer;
  /** The last four characters, so that a person can distinguish keys. */
  last4: string;
  /** Subject of the actor who made it. */
  createdBy: string;
  createdAt: number;
  /** From this instant on it is refused. */
  expiresAt?: number;
  revokedAt?: number;
  /** The key that a rotation made in its place. */
  replacedBy?: KeyId;
  /** Time of the last call that it let in, written within `WRITE_LATE_MS`. */
  lastUsedAt?: number;
};

/** A machine client that reads leads, with its grants and keys (oldest first). */
export type Consumer = {
  id: ConsumerId;
  name: string;
  state: (typeof consumerStates)[number];
  /** Overrides the default rate limit. */
  limitPerMinute?: number;
  grants: readonly Grant[];
  keys: readonly Key[];
  createdAt: number;
};

/** All that decides whether a key is good, in one look-up. */
export type KeyLookup = {
  key: Key;
  consumer: Omit<Consumer, 'keys' | 'createdAt'>;
};

export const keyStates = ['active', 'expired', 'revoked'] as const;
type KeyState = (typeof keyStates)[number];

/** State of a key at an instant: in the overlap of a rotation it is still `active`. */
export function keyStateAt(key: Key, now: number): KeyState {
  if (key.revokedAt !== undefined) return 'revoked';
  return key.expiresAt !== undefined && key.expiresAt <= now ? 'expired' : 'active';
}

/** Statuses of a consumer for people, the gravest first. */
export const consumerStatuses = ['revoked', 'disabled', 'no-key', 'in-rotation', 'active'] as const;
export type ConsumerStatus = (typeof consumerStatuses)[number];

export function statusAt(consumer: Consumer, now: number): ConsumerStatus {
  if (consumer.state !== 'active') return consumer.state;
  const active = activeKeys(consumer, now);
  if (active.length === 0) return 'no-key';
  return active.some(({ replacedBy }) => replacedBy !== undefined) ? 'in-rotation' : 'active';
}

/** The keys that work at an instant, oldest first. */
export function activeKeys({ keys }: Consumer, now: number): Key[] {
  return keys.filter((key) => keyStateAt(key, now) === 'active');
}

/** End of the first of the keys that work; undefined: never, or there is none. */
export function nextExpiry(consumer: Consumer, now: number): number | undefined {
  const ends = activeKeys(consumer, now).flatMap(({ expiresAt }) => expiresAt ?? []);
  return ends.length === 0 ? undefined : Math.min(...ends);
}

export const NAME_CHARACTERS_MAX = 200;
export const LIMIT_PER_MINUTE_MAX = 1_000_000;

/**
 * The trimmed name: 1 to 200 characters, one of them visible, no control characters.
 * @throws {validation-failed}
 */
export function parseConsumerName(name: string): string {
  const trimmed = name.trim();
  if (!isVisible(trimmed) || isLongerThan(trimmed, NAME_CHARACTERS_MAX) || !isPlainLine(trimmed))
    refuse([
      {
        pointer: '#/name',
        code: 'out-of-range',
        detail: `A name has 1 to ${NAME_CHARACTERS_MAX} characters, one of them visible, and no control characters.`,
      },
    ]);
  return trimmed;
}

/**
 * The form in which names are compared: composed (NFC), so that it does not matter how an accent was
 * typed, and without regard to case. Upper case first: `ß` and `SS` are one, as are `σ` and `ς`.
 */
export function foldConsumerName(name: string): string {
  return name.trim().normalize('NFC').toUpperCase().toLowerCase();
}

/** @throws {validation-failed} always: `id` is the consumer that has the name */
export function refuseNamesake(id: ConsumerId): never {
  return refuse([
    {
      pointer: '#/name',
      code: 'duplicate',
      detail: `Consumer ${id} has this name already. Choose another one, or take it all the same with \`force\` (on the command line \`--force\`).`,
    },
  ]);
}

/** A whole number from 1 to 1,000,000. @throws {validation-failed} */
export function parseLimitPerMinute(limit: number): number {
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_PER_MINUTE_MAX)
    refuse([
      {
        pointer: '#/limitPerMinute',
        code: 'out-of-range',
        detail: `limitPerMinute is a whole number from 1 to ${LIMIT_PER_MINUTE_MAX}.`,
      },
    ]);
  return limit;
}

/** @throws {not-found} always */
export function consumerNotFound(): never {
  throw new TrackportError('not-found', { detail: 'There is no consumer with this id.' });
}

/** @throws {invalid-lifecycle-transition} the consumer is revoked */
export function refuseRevoked(consumer: Consumer): void {
  if (consumer.state !== 'revoked') return;
  throw new TrackportError('invalid-lifecycle-transition', {
    detail: 'This consumer is revoked, which is final. Create another one.',
    extensions: { current: consumer.state, allowed: [] },
  });
}
