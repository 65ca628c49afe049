import { beforeEach, describe, expect, test } from 'vitest';
import { createApiKey, type NewKey } from '#access/keys/key-rules.ts';
import { createKeyAuthenticator, type KeyAuthenticator } from '#access/keys/authenticate-key.ts';
import type { Consumer, KeyId, KeyLookup } from '#access/consumers/consumer.ts';
import { TrackportError } from '#shared/errors.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { consumerWithKey } from '../support.ts';

let clock: FakeClock;
let store: ReturnType<typeof createStore>;
let uses: KeyId[];
let keys: KeyAuthenticator;

beforeEach(() => {
  clock = createFakeClock();
  store = createStore();
  uses = [];
  keys = createKeyAuthenticator({ ...store, clock, recordUse: (keyId) => uses.push(keyId) });
});

/** The one consumer `c-1`; tells which key ids were looked up, in order. */
function createStore() {
  let stored: Consumer | undefined;
  let version = 1;
  const lookUps: KeyId[] = [];
  const moveVersion = (): void => {
    version += 1;
  };
  return {
    lookUps,
    moveVersion,
    version: () => version,
    lookUp: async (keyId: KeyId): Promise<KeyLookup | undefined> => {
      lookUps.push(keyId);
      const key = stored?.keys.find((candidate) => candidate.keyId === keyId);
      return stored && key && { key, consumer: stored };
    },
    put: (consumer: Consumer): void => {
      stored = consumer;
      moveVersion();
    },
  };
}

const noop = (): void => undefined;

type ConsumerFields = Parameters<typeof consumerWithKey>[0];

async function insert(fields: ConsumerFields = {}): Promise<{ text: string; made: NewKey }> {
  const { consumer, ...rest } = consumerWithKey(fields);
  store.put(consumer);
  return rest;
}

async function refusalOf(headerValue: string | undefined): Promise<TrackportError> {
  const error: unknown = await keys.authenticate(headerValue).catch((reason: unknown) => reason);
  if (!(error instanceof TrackportError)) throw new Error('not refused');
  return error;
}

describe('a good key', () => {
  test('names its consumer, grants, limit and expiry, and its use is recorded', async () => {
    const grants = [{ action: 'leads:read' as const, labels: ['emea'] }];
    const expiresAt = clock.now() + 1;
    const { text, made } = await insert({ grants, limitPerMinute: 5, expiresAt });
    expect(await keys.authenticate(text)).toEqual({
      consumerId: 'c-1',
      name: 'Portal',
      keyId: made.keyId,
      grants,
      limitPerMinute: 5,
      expiresAt,
    });
    expect(uses).toEqual([made.keyId]);
  });

  test('is looked up again after any change', async () => {
    const { text } = await insert();
    await keys.authenticate(text);
    store.moveVersion();
    await keys.authenticate(text);
    expect(store.lookUps).toHaveLength(2);
  });

  test('is refused from the instant of its revocation', async () => {
    const { text } = await insert();
    await keys.authenticate(text);
    await insert({ revokedAt: clock.now() }); // replaces the consumer: the old key is gone
    expect((await refusalOf(text)).code).toBe('unauthorized');
  });

  test('is refused from the instant of its expiry, without a change in the store', async () => {
    const { text } = await insert({ expiresAt: clock.now() + 10 });
    await keys.authenticate(text);
    await clock.advance(9);
    await keys.authenticate(text);
    await clock.advance(1);
    expect((await refusalOf(text)).code).toBe('unauthorized');
  });

  test('that changes during the look-up is not remembered', async () => {
    const { text } = await insert();
    const lookUp = async (keyId: KeyId): Promise<KeyLookup | undefined> => {
      const lookup = await store.lookUp(keyId);
      if (store.lookUps.length === 1) store.moveVersion();
      return lookup;
    };
    const moving = createKeyAuthenticator({ ...store, lookUp, clock, recordUse: noop });
    await moving.authenticate(text);
    await moving.authenticate(text);
    await moving.authenticate(text);
    expect(store.lookUps).toHaveLength(2);
  });
});

test('nothing is remembered while nobody can know whether something changed', async () => {
  const { text } = await insert();
  const away = createKeyAuthenticator({
    ...store,
    version: () => undefined,
    clock,
    recordUse: noop,
  });
  await away.authenticate(text);
  await away.authenticate(text);
  expect(store.lookUps).toHaveLength(2);
});

describe('a remembered key', () => {
  test('needs no look-up once it was verified, and its use is recorded', async () => {
    const { text, made } = await insert();
    const principal = await keys.authenticate(text);
    expect(await keys.authenticate(text)).toBe(principal);
    expect(store.lookUps).toHaveLength(1);
    expect(uses).toEqual([made.keyId, made.keyId]);
  });

  test('that was refused is not looked up again', async () => {
    const { text } = await insert({ revokedAt: clock.now() });
    await refusalOf(text);
    await refusalOf(text);
    expect(store.lookUps).toHaveLength(1);
  });
});

describe('a bad key', () => {
  test('gets one and the same answer, whatever is wrong', async () => {
    const { text, made } = await insert();
    const otherSecret = createApiKey((length) => (length === 12 ? made.keyId : 'x'.repeat(length)));
    const refusals = [
      await refusalOf(undefined),
      await refusalOf(''),
      await refusalOf('tpk_nonsense'),
      await refusalOf(`${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`),
      await refusalOf(createApiKey().key.reveal()),
      await refusalOf(otherSecret.key.reveal()),
      await refusalOf(`${text}, ${text}`),
      await refusalOf((await insert({ revokedAt: clock.now() })).text),
      await refusalOf((await insert({ expiresAt: clock.now() })).text),
      await refusalOf((await insert({ state: 'disabled' })).text),
      await refusalOf((await insert({ state: 'revoked' })).text),
    ];
    const answers = refusals.map(({ code, detail, challenge }) => ({ code, detail, challenge }));
    expect(answers).toEqual(
      answers.map(() => ({
        code: 'unauthorized',
        detail: 'Send a valid API key in the header `X-API-KEY`.',
        challenge: 'ApiKey',
      })),
    );
    expect(uses).toEqual([]);
  });

  test('with a typing mistake is refused without a look-up', async () => {
    const { text } = await insert();
    const typo = text.slice(0, 20) + (text[20] === 'a' ? 'b' : 'a') + text.slice(21);
    await refusalOf(typo);
    expect(store.lookUps).toEqual([]);
  });

  test('that is unknown is looked up once in ten seconds', async () => {
    const unknown = createApiKey().key.reveal();
    await refusalOf(unknown);
    await clock.advance(9_999);
    await refusalOf(unknown);
    expect(store.lookUps).toHaveLength(1);
    await clock.advance(1);
    await refusalOf(unknown);
    expect(store.lookUps).toHaveLength(2);
  });

  test('that was unknown is good as soon as it exists', async () => {
    const { consumer, text } = consumerWithKey();
    await refusalOf(text);
    store.put(consumer);
    expect((await keys.authenticate(text)).consumerId).toBe('c-1');
  });
});

test('a store that fails is 503, never 401', async () => {
  const { text } = await insert();
  const lookUp = (): Promise<never> => Promise.reject(new TrackportError('store-unavailable'));
  keys = createKeyAuthenticator({ ...store, lookUp, clock, recordUse: noop });
  expect((await refusalOf(text)).code).toBe('store-unavailable');
});
