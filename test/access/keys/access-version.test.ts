import { setImmediate as endOfTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createAccessVersion } from '#access/keys/access-version.ts';
import { createFakeClock } from '../../support/clock.ts';

/** A store whose version is `stored`; undefined: it is away. */
function setUp() {
  const clock = createFakeClock();
  const state: { stored: number | undefined; reads: number } = { stored: 1, reads: 0 };
  const accessVersion = createAccessVersion(
    {
      get: async <Row>() => {
        state.reads += 1;
        if (state.stored === undefined) throw new Error('away');
        return { version: state.stored } as Row;
      },
    },
    clock,
  );
  /** The version once what is under way has ended. */
  const settled = async (): Promise<number | undefined> => {
    accessVersion.current();
    await endOfTurn();
    return accessVersion.current();
  };
  return { clock, state, accessVersion, settled };
}

test('the version stays while the store’s does, however often it is read anew', async () => {
  const { clock, state, settled } = setUp();
  const version = await settled();
  for (let times = 0; times < 5; times += 1) {
    await clock.advance(400);
    expect(await settled()).toBe(version);
  }
  expect(state.reads).toBe(6);
});

test('a change elsewhere is noticed with the next read, a change here at once', async () => {
  const { clock, state, accessVersion, settled } = setUp();
  const version = await settled();
  state.stored = 2;
  await clock.advance(100);
  expect(accessVersion.current()).toBe(version);
  await clock.advance(200);
  const next = await settled();
  expect(next).not.toBe(version);
  accessVersion.expire();
  expect(accessVersion.current()).not.toBe(next);
});

test('nobody knows it before it was read, after a second that nobody asked in, or without the store', async () => {
  const { clock, state, accessVersion, settled } = setUp();
  expect(accessVersion.current()).toBeUndefined();
  const version = await settled();
  await clock.advance(1000);
  expect(accessVersion.current()).toBeUndefined();
  expect(await settled()).toBe(version);
  state.stored = undefined;
  await clock.advance(999);
  expect(await settled()).toBe(version);
  await clock.advance(1);
  expect(await settled()).toBeUndefined();
});

test('a clock that is set back holds no version', async () => {
  const { clock, accessVersion, settled } = setUp();
  await settled();
  clock.set(clock.now() - 60_000);
  await clock.advance(1000);
  expect(accessVersion.current()).toBeUndefined();
});
