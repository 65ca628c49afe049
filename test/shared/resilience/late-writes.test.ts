import { describe, expect, test } from 'vitest';
import { SECOND, systemClock } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { silentLog } from '#shared/log.ts';
import { createLateWrites } from '#shared/resilience/late-writes.ts';
import { createFakeClock } from '../../support/clock.ts';

type Options = Partial<Parameters<typeof createLateWrites<string, number>>[0]>;

function setUp(options: Options = {}) {
  const clock = createFakeClock();
  const written: Record<string, number>[] = [];
  const writes = createLateWrites<string, number>({
    write: async (collected) => void written.push(Object.fromEntries(collected)),
    merge: (_older, newer) => newer,
    clock,
    log: silentLog,
    failure: 'it could not be written',
    ...options,
  });
  return { clock, written, writes };
}

describe('what is written late', () => {
  test('is written every five seconds, as it was last for each key', async () => {
    const { clock, written, writes } = setUp();
    writes.record('a', 1);
    writes.record('b', 2);
    writes.record('a', 3);
    expect(written).toEqual([]);
    await clock.advance(5 * SECOND);
    expect(written).toEqual([{ a: 3, b: 2 }]);
    await writes.close();
  });

  test('has no timer before something is recorded, and one from then on', () => {
    let sleeps = 0;
    const sleep = (): Promise<void> => {
      sleeps += 1;
      return new Promise(() => undefined);
    };
    const { writes } = setUp({ clock: { ...systemClock, sleep } });
    expect(sleeps).toBe(0);
    writes.record('a', 1);
    writes.record('b', 1);
    expect(sleeps).toBe(1);
  });

  test('costs no write while nothing is recorded', async () => {
    const { clock, written, writes } = setUp();
    await clock.advance(5 * SECOND);
    await clock.advance(5 * SECOND);
    await writes.close();
    expect(written).toEqual([]);
  });

  test('is written when the service stops', async () => {
    const { written, writes } = setUp();
    writes.record('a', 1);
    await writes.close();
    expect(written).toEqual([{ a: 1 }]);
  });

  test('is written before a flush ends, also what another one has taken', async () => {
    const { promise: disk, resolve: done } = Promise.withResolvers<void>();
    const written: string[] = [];
    const { writes } = setUp({
      write: async (collected) => {
        await disk;
        written.push(...collected.keys());
      },
    });
    writes.record('a', 1);
    const first = writes.flush();
    await Promise.resolve();
    const second = writes.flush().then(() => [...written]);
    done();
    expect(await second).toEqual(['a']);
    await first;
  });

  test('is bounded: half of the keys are written at once, and new ones are forgotten while the store fails', async () => {
    let isDown = false;
    const written: Record<string, number>[] = [];
    const { writes } = setUp({
      keysMax: 4,
      merge: (older, newer) => older + newer,
      write: async (collected) => {
        if (isDown) throw new TrackportError('store-unavailable');
        written.push(Object.fromEntries(collected));
      },
    });
    writes.record('a', 1);
    writes.record('b', 1);
    await expect.poll(() => written).toEqual([{ a: 1, b: 1 }]);
    isDown = true;
    for (const key of ['a', 'b', 'c', 'd', 'e', 'd']) {
      writes.record(key, 1);
      await writes.flush();
    }
    isDown = false;
    await writes.close();
    expect(written[1]).toEqual({ a: 1, b: 1, c: 1, d: 2 });
  });

  test('survives a store that fails for a while', async () => {
    const written: Record<string, number>[] = [];
    let isDown = true;
    const { writes } = setUp({
      write: async (collected) => {
        if (isDown) throw new TrackportError('store-unavailable');
        written.push(Object.fromEntries(collected));
      },
    });
    writes.record('a', 1);
    writes.record('b', 1);
    await writes.flush();
    isDown = false;
    writes.record('a', 5);
    await writes.close();
    expect(written).toEqual([{ a: 5, b: 1 }]);
  });
});
