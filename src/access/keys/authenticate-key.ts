/** Keys as requests bring them, remembered until the version of consumers, keys and grants is another one. */
import { LRUCache } from 'lru-cache';
import { atMostEntries } from '#shared/caching.ts';
import { type Clock, SECOND } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { sameDigest, sha256Hex } from '#shared/crypto/hash.ts';
import type { Consumer, ConsumerId, Key, KeyId, KeyLookup } from '../consumers/consumer.ts';
import type { AccessVersion } from './access-version.ts';
import { KEY_CHARACTERS, keyIdOf } from './key-rules.ts';

const KNOWN_KEYS_MAX = 10_000;
const UNKNOWN_KEYS_MAX = 10_000;
const UNKNOWN_TTL_MS = 10 * SECOND;

/** The authenticated consumer of a request. */
export type ConsumerPrincipal = { consumerId: ConsumerId } & Pick<
  Consumer,
  'name' | 'grants' | 'limitPerMinute'
> &
  Pick<Key, 'keyId' | 'expiresAt'>;

export type KeyAuthenticator = {
  /**
   * The consumer of the key in the header `X-API-KEY`. Every other value, and none, is refused
   * alike, so that no response says which part was wrong.
   * @throws {unauthorized} @throws {store-unavailable}
   */
  authenticate(headerValue: string | undefined): Promise<ConsumerPrincipal>;
};

type KnownKey = {
  principal: ConsumerPrincipal;
  /** The key is not revoked, and its consumer active. */
  isGood: boolean;
};

/**
 * Remembers verified keys by their digest until the store's version changes, so that a hot call
 * costs one hash. Key ids that do not exist are remembered for at most 10 s.
 */
export function createKeyAuthenticator(keys: {
  version: AccessVersion['current'];
  lookUp: (keyId: KeyId) => Promise<KeyLookup | undefined>;
  clock: Clock;
  /** Called with each good use. */
  recordUse: (keyId: KeyId, at: number) => void;
}): KeyAuthenticator {
  const { lookUp, clock, recordUse } = keys;
  const verified = new LRUCache<string, KnownKey>(atMostEntries(KNOWN_KEYS_MAX));
  const unknownUntil = new LRUCache<KeyId, number>(atMostEntries(UNKNOWN_KEYS_MAX));
  let version: number | undefined;

  const forgetWhenChanged = (): void => {
    const current = keys.version();
    if (current === version && current !== undefined) return;
    verified.clear();
    unknownUntil.clear();
    version = current;
  };

  const verify = async (text: string, digest: string): Promise<KnownKey | undefined> => {
    const now = clock.monotonicMs();
    const keyId = keyIdOf(text);
    if (keyId === undefined || now < (unknownUntil.get(keyId) ?? 0)) return undefined;
    const before = version;
    const lookup = await lookUp(keyId);
    forgetWhenChanged();
    // A change during the look-up may have come after what the store read: remember nothing.
    const isCurrent = before === version && before !== undefined;
    if (!lookup) {
      if (isCurrent) unknownUntil.set(keyId, now + UNKNOWN_TTL_MS);
      return undefined;
    }
    if (!sameDigest(lookup.key.digest, Buffer.from(digest, 'hex'))) return undefined;
    const key = toKnownKey(lookup);
    if (isCurrent) verified.set(digest, key);
    return key;
  };

  const admit = (key: KnownKey | undefined): ConsumerPrincipal | undefined => {
    const now = clock.now();
    if (!key?.isGood || isExpired(key, now)) return undefined;
    recordUse(key.principal.keyId, now);
    return key.principal;
  };

  return {
    authenticate: async (headerValue) => {
      if (headerValue?.length !== KEY_CHARACTERS) return refuseKey();
      forgetWhenChanged();
      const digest = sha256Hex(headerValue); // a third of the cost of one in a buffer
      const key = verified.get(digest) ?? (await verify(headerValue, digest));
      return admit(key) ?? refuseKey();
    },
  };
}

function toKnownKey({ key, consumer }: KeyLookup): KnownKey {
  return {
    isGood: key.revokedAt === undefined && consumer.state === 'active',
    principal: {
      consumerId: consumer.id,
      name: consumer.name,
      keyId: key.keyId,
      grants: consumer.grants,
      limitPerMinute: consumer.limitPerMinute,
      expiresAt: key.expiresAt,
    },
  };
}

function isExpired({ principal: { expiresAt } }: KnownKey, now: number): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}

function refuseKey(): never {
  throw new TrackportError('unauthorized', {
    detail: 'Send a valid API key in the header `X-API-KEY`.',
    challenge: 'ApiKey',
  });
}
