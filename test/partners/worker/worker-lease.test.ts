import { describe, expect, onTestFinished, test } from 'vitest';
import { createWorkerLease, type WorkerLease } from '#partners/worker/background-work.ts';
import { SECOND } from '#shared/clock.ts';
import { createFakeClock } from '../../support/clock.ts';
import { temporaryPostgres } from '../../support/postgres/database.ts';

/** Number of times that each instance asks. */
const EVERY_MS = 2 * SECOND;
/** Of looks without a renewal: after so many it is still its holder's, after so many another's. */
const LOOKS = { before: 6, after: 12 };

const MOVE = 'UPDATE worker_lease SET until = until - make_interval(secs => @seconds)';

/** `create` makes the lease as an instance of this name has it, and `pass` lets time pass. */
async function openLeases() {
  const database = await temporaryPostgres();
  const clock = createFakeClock();
  return {
    database,
    create: (instance: string): WorkerLease => {
      const lease = createWorkerLease({ database, instance, clock });
      onTestFinished(() => lease.release());
      return lease;
    },
    pass: async (ms: number): Promise<void> => {
      await database.run(MOVE, { seconds: ms / SECOND });
      await clock.advance(ms);
    },
  };
}

describe('the worker lease', () => {
  test('one of two has it, until it gives it back', async () => {
    const { create } = await openLeases();
    const [first, second] = [create('a'), create('b')];
    expect(await first.take()).toBe(true);
    expect(await second.take()).toBe(false);
    expect(await first.take()).toBe(true);
    await second.release(); // who has it not gives nothing back
    expect(await second.take()).toBe(false);
    await first.release();
    await first.release();
    expect(await second.take()).toBe(true);
    expect(await first.take()).toBe(false);
  });

  test('who has it hears that another one asks, until somebody takes it', async () => {
    const { create } = await openLeases();
    const [first, second] = [create('a'), create('b')];
    expect(await first.take()).toBe(true);
    expect(await first.isAsked()).toBe(false);
    await second.ask();
    await second.ask();
    expect(await first.take()).toBe(true);
    expect(await first.isAsked()).toBe(true);
    await first.release();
    expect(await second.take()).toBe(true);
    expect(await second.isAsked()).toBe(false);
    await first.ask();
    await second.release();
    expect(await second.take()).toBe(true); // whoever asked does not come
    expect(await second.isAsked()).toBe(false);
  });

  test('of ten that ask at once one has it', async () => {
    const { create } = await openLeases();
    const takes = Array.from({ length: 10 }, (_, at) => create(String(at)).take());
    expect((await Promise.all(takes)).filter(Boolean)).toHaveLength(1);
  });

  test('who takes it again in time has it for as long as it does', async () => {
    const { create, pass } = await openLeases();
    const [first, second] = [create('a'), create('b')];
    for (let looks = 0; looks < 4 * LOOKS.after; looks += 1) {
      expect(await first.take()).toBe(true);
      expect(await second.take()).toBe(false);
      await pass(EVERY_MS);
    }
  });

  test('who does not take it again in time is followed by one other, and finds that out', async () => {
    const { create, pass } = await openLeases();
    const [frozen, ...others] = [create('a'), create('b'), create('c')];
    expect(await frozen.take()).toBe(true);
    const takes = async (): Promise<boolean[]> => {
      await pass(EVERY_MS);
      return Promise.all(others.map((lease) => lease.take()));
    };
    for (let looks = 0; looks < LOOKS.before; looks += 1)
      expect(await takes()).toEqual([false, false]);
    for (let looks = LOOKS.before; looks < LOOKS.after; looks += 1) await takes();
    const taken = await takes();
    expect(taken.filter(Boolean)).toHaveLength(1);

    expect(await frozen.take()).toBe(false);
    for (let looks = 0; looks < LOOKS.after; looks += 1) expect(await takes()).toEqual(taken);
    expect(await frozen.take()).toBe(false);
    await others[taken.indexOf(true)]?.release();
    expect(await frozen.take()).toBe(true);
  });

  test('one that followed and gave it back is followed itself, though the first one is still frozen', async () => {
    const { create, pass } = await openLeases();
    const [frozen, second, third] = [create('a'), create('b'), create('c')];
    expect(await frozen.take()).toBe(true);
    const untilTaken = async (lease: WorkerLease): Promise<void> => {
      for (let looks = 0; looks < LOOKS.after && !(await lease.take()); looks += 1)
        await pass(EVERY_MS);
    };
    await untilTaken(second);
    expect(await second.take()).toBe(true);
    await second.release();
    expect(await third.take()).toBe(true);
    // And one that died after it had followed: there is no lease of its own that says so.
    await untilTaken(second);
    expect(await second.take()).toBe(true);
    expect(await third.take()).toBe(false);
  });

  test('one that the clock of the server has put too far ahead is over', async () => {
    const { create, pass } = await openLeases();
    const [first, second] = [create('a'), create('b')];
    expect(await first.take()).toBe(true);
    await pass(-3600 * SECOND);
    expect(await second.take()).toBe(true);
    expect(await first.take()).toBe(false);
  });

  test('it is given back without the store, too: its time will end', async () => {
    const { database, create } = await openLeases();
    const lease = create('a');
    await lease.take();
    await database.close();
    await lease.release();
    await expect(lease.take()).rejects.toMatchObject({ code: 'store-unavailable' });
  });
});
