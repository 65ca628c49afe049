import { describe, expect, test } from 'vitest';
import { type Behaviour, makeKey, makeToken } from '../../support/issuer.ts';
import { openWorld, type World } from './support.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const unavailable = { code: 'identity-provider-unavailable', challenge: undefined };
const invalid = { code: 'unauthorized', challenge: 'Bearer error="invalid_token"' };

/** A token that lives for a day, so that only the keys decide. */
const lasting = async ({ issuer, clock }: World, keyAt = 0): Promise<string> => {
  const now = clock.now() / 1000;
  const key = issuer.keys[keyAt];
  return makeToken(issuer, { now, claims: { exp: now + 86_400 }, ...(key && { key }) });
};

const unknownKey = async (world: World, kid: string): Promise<string> => {
  const now = world.clock.now() / 1000;
  return makeToken(world.issuer, { now, header: { kid } });
};

/** Lets a refresh in the background come to its end: what the issuer sent last is in hand. */
const refreshed = async ({ keySet, clock }: World): Promise<void> => {
  await expect.poll(() => keySet.status().fetchedAt).toBe(clock.now());
};

describe('fetching the keys', () => {
  test('asks nothing of the issuer before the first token', async () => {
    const { issuer, keySet } = await openWorld();
    expect(issuer.calls).toEqual({ discovery: 0, keys: 0 });
    expect(keySet.status()).toEqual({ state: 'unknown', keys: 0 });
  });

  test('costs one discovery and one fetch for a hundred tokens at once', async () => {
    const world = await openWorld();
    const tokens = await Promise.all(Array.from({ length: 100 }, () => lasting(world)));
    await Promise.all(tokens.map((token) => world.verifier.verify(token)));
    expect(world.issuer.calls).toEqual({ discovery: 1, keys: 1 });
    expect(world.keySet.status()).toEqual({ state: 'ok', keys: 1, fetchedAt: world.clock.now() });
  });

  test('needs no discovery when the configuration names the key set', async () => {
    const world = await openWorld();
    const { issuer } = world;
    const direct = await openWorld({
      keys: { issuer: issuer.issuer, keySetUrl: `${issuer.issuer}/keys` },
      rules: { issuer: issuer.issuer },
    });
    await direct.verifier.verify(await lasting(world));
    expect(issuer.calls).toEqual({ discovery: 0, keys: 1 });
  });

  test('happens once for 200 unknown key ids, and again after 30 s', async () => {
    const world = await openWorld();
    const { issuer, verifier, clock } = world;
    await verifier.verify(await lasting(world));
    await clock.advance(31_000);
    const storm = async (from: number): Promise<void> => {
      const tokens = await Promise.all(
        Array.from({ length: 200 }, (_, at) => unknownKey(world, `unknown-${from + at}`)),
      );
      const verdicts = await Promise.allSettled(tokens.map((token) => verifier.verify(token)));
      for (const verdict of verdicts)
        expect(verdict).toMatchObject({ status: 'rejected', reason: invalid });
    };
    await storm(0);
    expect(issuer.calls).toEqual({ discovery: 1, keys: 2 });
    await storm(200);
    expect(issuer.calls.keys).toBe(2);
    await clock.advance(30_000);
    await storm(400);
    expect(issuer.calls.keys).toBe(3);
    await expect(verifier.verify(await lasting(world))).resolves.toBeDefined();
  });

  test('finds a new key at once when the last fetch is half a minute ago', async () => {
    const world = await openWorld();
    const { issuer, verifier, clock } = world;
    await verifier.verify(await lasting(world));
    issuer.keys = [...issuer.keys, await makeKey('key-2')];
    const token = await lasting(world, 1);
    await expect(verifier.verify(token)).rejects.toMatchObject(invalid);
    await clock.advance(30_000);
    await expect(verifier.verify(token)).resolves.toMatchObject({ subject: 'owner-1' });
    expect(issuer.calls).toEqual({ discovery: 1, keys: 2 });
  });

  test('runs in the background after 10 min, while tokens pass with the keys in hand', async () => {
    const world = await openWorld();
    const { issuer, verifier, clock } = world;
    await verifier.verify(await lasting(world));
    await clock.advance(10 * MINUTE);
    issuer.behave('hang');
    await expect(verifier.verify(await lasting(world))).resolves.toBeDefined();
    await expect.poll(() => issuer.calls.keys).toBe(2);
  });

  test('looks for the key set again once a day', async () => {
    const world = await openWorld();
    const { issuer, verifier, clock } = world;
    await verifier.verify(await lasting(world));
    await clock.advance(23 * HOUR);
    await verifier.verify(await lasting(world));
    await refreshed(world);
    expect(issuer.calls).toEqual({ discovery: 1, keys: 2 });
    await clock.advance(2 * HOUR);
    await verifier.verify(await lasting(world));
    await refreshed(world);
    expect(issuer.calls).toEqual({ discovery: 2, keys: 3 });
  });
});

describe('an issuer in trouble', () => {
  const troubles: Behaviour[] = ['broken', 'reset', 'redirect', 'nonsense', 'hang'];
  /** Short only where it is waited for: a busy machine is no issuer in trouble. */
  const keysFor = (trouble: Behaviour) => ({ timeoutMs: trouble === 'hang' ? 2000 : 60_000 });

  test.each(troubles)('(%s) does not stop tokens signed with known keys', async (trouble) => {
    const world = await openWorld({ keys: keysFor(trouble) });
    const { issuer, verifier, clock, keySet } = world;
    await verifier.verify(await lasting(world));
    issuer.behave(trouble);
    for (let round = 0; round < 20; round += 1) {
      await clock.advance(HOUR);
      await expect(verifier.verify(await lasting(world))).resolves.toBeDefined();
    }
    await expect.poll(() => keySet.status().state).toBe('failing');
    const { discovery, keys } = issuer.calls;
    expect(discovery + keys).toBeLessThanOrEqual(22);
  });

  test.each(troubles)('(%s) without known keys is a 503 that says when', async (trouble) => {
    const world = await openWorld({ keys: keysFor(trouble) });
    const { issuer, verifier, clock, keySet } = world;
    issuer.behave(trouble);
    const token = await lasting(world);
    await expect(verifier.verify(token)).rejects.toMatchObject({
      ...unavailable,
      retryAfterSeconds: 30,
    });
    await clock.advance(12_500);
    await expect(verifier.verify(token)).rejects.toMatchObject({
      ...unavailable,
      retryAfterSeconds: 18,
    });
    expect(issuer.calls).toEqual({ discovery: 1, keys: 0 });
    expect(keySet.status()).toEqual({ state: 'unavailable', keys: 0, failure: expect.any(String) });
    issuer.behave('good');
    await clock.advance(17_500);
    await expect(verifier.verify(token)).resolves.toBeDefined();
    expect(keySet.status()).toMatchObject({ state: 'ok', keys: 1 });
  });

  test('is known to be well again though nobody needs a key', async () => {
    const world = await openWorld();
    const { issuer, verifier, clock, keySet } = world;
    issuer.behave('broken');
    await expect(verifier.verify(await lasting(world))).rejects.toMatchObject(unavailable);
    issuer.behave('good');
    expect(keySet.status().state).toBe('unavailable');
    expect(issuer.calls).toEqual({ discovery: 1, keys: 0 });
    await clock.advance(30_000);
    keySet.status();
    await expect.poll(() => keySet.status().state).toBe('ok');
    expect(issuer.calls).toEqual({ discovery: 2, keys: 1 });
  });

  test('cannot tell an unknown key id from a new one: 503, and one attempt', async () => {
    const world = await openWorld();
    const { issuer, verifier, clock } = world;
    await verifier.verify(await lasting(world));
    issuer.behave('broken');
    await clock.advance(MINUTE);
    for (let at = 0; at < 50; at += 1) {
      const token = await unknownKey(world, `unknown-${at}`);
      await expect(verifier.verify(token)).rejects.toMatchObject(unavailable);
    }
    expect(issuer.calls).toEqual({ discovery: 1, keys: 2 });
  });

  test('loses its keys’ good name after 24 h', async () => {
    const world = await openWorld();
    const { issuer, verifier, clock } = world;
    await verifier.verify(await lasting(world));
    issuer.behave('broken');
    await clock.advance(24 * HOUR - 1);
    await expect(verifier.verify(await lasting(world))).resolves.toBeDefined();
    await expect.poll(() => world.keySet.status().state).toBe('failing');
    await clock.advance(1);
    await expect(verifier.verify(await lasting(world))).rejects.toMatchObject(unavailable);
  });

  test('is noticed to be over half a minute later, though the clock was set back', async () => {
    const world = await openWorld();
    const { issuer, verifier, clock } = world;
    issuer.behave('broken');
    await expect(verifier.verify(await lasting(world))).rejects.toMatchObject(unavailable);
    issuer.behave('good');
    clock.set(clock.now() - 24 * HOUR);
    await expect(verifier.verify(await lasting(world))).rejects.toMatchObject(unavailable);
    await clock.advance(30_000);
    await expect(verifier.verify(await lasting(world))).resolves.toBeDefined();
  });

  test('holds nobody longer than its time-out, however many wait', async () => {
    const world = await openWorld({ keys: { timeoutMs: 1000 } });
    world.issuer.behave('hang');
    const token = await lasting(world);
    const verdicts = await Promise.allSettled(
      Array.from({ length: 20 }, () => world.verifier.verify(token)),
    );
    for (const verdict of verdicts)
      expect(verdict).toMatchObject({ status: 'rejected', reason: unavailable });
    expect(world.issuer.calls).toEqual({ discovery: 1, keys: 0 });
    expect(world.keySet.status().failure).toBe('It did not answer in time.');
  });
});

describe('a discovery document or key set that cannot be right', () => {
  test.each<[string, Record<string, unknown>]>([
    ['names another issuer', { issuer: 'https://other.example' }],
    ['names the issuer with a slash more', { issuer: 'http://127.0.0.1/' }],
    ['names no issuer', { issuer: undefined }],
    ['names no key set', { jwks_uri: undefined }],
    ['names keys over plain http', { jwks_uri: 'http://192.0.2.1/keys' }],
    ['names keys in a file', { jwks_uri: 'file:///etc/keys' }],
    ['names keys at a look-alike of loopback', { jwks_uri: 'http://127.0.0.1.example/keys' }],
  ])('%s: 503, and no key is fetched', async (_name, discovery) => {
    const world = await openWorld();
    world.issuer.discovery = discovery;
    await expect(world.verifier.verify(await lasting(world))).rejects.toMatchObject(unavailable);
    expect(world.issuer.calls).toEqual({ discovery: 1, keys: 0 });
  });

  test.each<[string, unknown]>([
    ['no keys', { keys: [] }],
    ['a thousand keys', { keys: Array.from({ length: 1000 }, () => ({ kty: 'EC' })) }],
    ['no list', { keys: 'none' }],
    ['keys that are no objects', { keys: ['key'] }],
    ['a megabyte', { keys: [{ kty: 'EC' }], filler: 'x'.repeat(1_000_000) }],
  ])('a key set with %s keeps the last good keys', async (_name, keySet) => {
    const world = await openWorld();
    await world.verifier.verify(await lasting(world));
    world.issuer.keySet = keySet;
    await world.clock.advance(10 * MINUTE);
    await world.verifier.verify(await lasting(world));
    await expect.poll(() => world.keySet.status().state).toBe('failing');
    await expect(world.verifier.verify(await lasting(world))).resolves.toBeDefined();
  });

  test('has the path of the issuer before it, without a double slash', async () => {
    const world = await openWorld();
    const issuer = `${world.issuer.issuer}/`;
    world.issuer.discovery = { issuer };
    const other = await openWorld({ keys: { issuer }, rules: { issuer } });
    const token = await makeToken(world.issuer, { claims: { iss: issuer } });
    await expect(other.verifier.verify(token)).resolves.toBeDefined();
    expect(world.issuer.calls).toEqual({ discovery: 1, keys: 1 });
  });
});
