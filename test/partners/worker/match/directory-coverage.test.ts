import { describe, expect, test } from 'vitest';
import { matchByNumber, createDirectoryCoverage } from '#partners/worker/match/find-leads.ts';
import { HOUR, SECOND } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { silentLog } from '#shared/log.ts';
import { createFakeClock } from '../../../support/clock.ts';
import { leadStoreIn } from '../../../support/directory.ts';
import { temporaryDatabase } from '../../../support/stores.ts';

function setUp() {
  const clock = createFakeClock();
  const runs: PromiseWithResolvers<{ isComplete: boolean }>[] = [];
  const failures: number[] = [];
  const reaches: number[] = [];
  let isLockedOut = false;
  const directory = createDirectoryCoverage({
    catchUp: (since) => {
      reaches.push(since);
      const run = Promise.withResolvers<{ isComplete: boolean }>();
      runs.push(run);
      return run.promise;
    },
    isLockedOut: () => isLockedOut,
    clock,
    log: silentLog,
    onFailure: async () => {
      failures.push(clock.now());
    },
  });
  const lockOut = (isOut: boolean): void => {
    isLockedOut = isOut;
  };
  return { clock, directory, failures, reaches, runs, lockOut };
}

const unavailable = (retryAfterSeconds?: number) =>
  new TrackportError('tracker-unavailable', {
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });

describe('what is known of the directory', () => {
  test('asks once for what one run covers', async () => {
    const { clock, directory, runs } = setUp();
    const now = clock.now();
    const covered = [directory.cover(now, 400), directory.cover(now, 400)];
    runs[0]?.resolve({ isComplete: true });
    for (const answer of covered)
      expect(await answer).toMatchObject({ until: now, isComplete: true });
    expect(await directory.cover(now, 400)).toMatchObject({ until: now, isComplete: true });
    expect(runs).toHaveLength(1);
  });

  test('does not wait long for a slow run, and uses it when it has landed', async () => {
    const { clock, directory, runs } = setUp();
    const now = clock.now();
    const covered = directory.cover(now, 400);
    await clock.advance(400);
    expect((await covered).isComplete).toBe(false);
    const again = directory.cover(now, 400);
    runs[0]?.resolve({ isComplete: true });
    expect(await again).toMatchObject({ until: now, isComplete: true });
    expect(runs).toHaveLength(1);
  });

  test('reads further back for what was missed before, once for all that ask for no more', async () => {
    const { clock, directory, reaches, runs } = setUp();
    const now = clock.now();
    const usual = directory.cover(now, 400);
    const missed = [directory.cover(now, 400, now - HOUR), directory.cover(now, 400, now - SECOND)];
    for (const run of runs) run.resolve({ isComplete: true });
    expect(await usual).toMatchObject({ until: now, isComplete: true });
    for (const answer of missed) expect(await answer).toMatchObject({ since: now - HOUR });
    expect(await directory.cover(now, 400, now - SECOND)).toMatchObject({ since: now - HOUR });
    expect(reaches).toEqual([Infinity, now - HOUR]);
  });

  test('waits no longer when the clock is set back', async () => {
    const { clock, directory, runs } = setUp();
    const first = directory.cover(clock.now(), 400);
    runs[0]?.reject(unavailable(30));
    await first;
    clock.set(clock.now() - HOUR);
    await clock.advance(30 * SECOND);
    const again = directory.cover(clock.now(), 400);
    expect(runs).toHaveLength(2);
    runs[1]?.resolve({ isComplete: true });
    expect((await again).isComplete).toBe(true);
  });

  test('asks anew for what happened after a run began', async () => {
    const { clock, directory, runs } = setUp();
    const early = directory.cover(clock.now(), 400);
    await clock.advance(10);
    const late = directory.cover(clock.now(), 400);
    runs[0]?.resolve({ isComplete: true });
    await early;
    expect(runs).toHaveLength(2);
    runs[1]?.resolve({ isComplete: true });
    expect((await late).until).toBe(clock.now());
  });

  test('asks anew while the first crawl is not complete', async () => {
    const { clock, directory, runs } = setUp();
    const covered = directory.cover(clock.now(), 400);
    runs[0]?.resolve({ isComplete: false });
    expect((await covered).isComplete).toBe(false);
    void directory.cover(clock.now(), 400);
    expect(runs).toHaveLength(2);
  });

  test('leaves a failing tracker alone, longer each time, and as long as it names', async () => {
    const { clock, directory, failures, runs } = setUp();
    for (const [failure, wait] of [
      [unavailable(), SECOND],
      [unavailable(), 2 * SECOND],
      [unavailable(20), 20 * SECOND],
    ] as const) {
      const count = runs.length;
      const covered = directory.cover(clock.now(), 400);
      runs[count]?.reject(failure);
      await covered;
      expect(directory.retryMs()).toBe(wait);
      await directory.cover(clock.now(), 400);
      expect(runs).toHaveLength(count + 1);
      await clock.advance(wait);
    }
    expect(failures).toHaveLength(3);
  });

  test('asks at once where another credential may be taken', async () => {
    const { clock, directory, runs } = setUp();
    const covered = directory.cover(clock.now(), 400);
    runs[0]?.reject(unavailable(60));
    await covered;
    directory.askAgain();
    void directory.cover(clock.now(), 400);
    expect([runs.length, directory.retryMs() <= 0]).toEqual([2, true]);
  });

  test('asks at once with another credential, whatever a run of the former one comes to', async () => {
    const { clock, directory, runs } = setUp();
    const former = directory.cover(clock.now(), 400);
    directory.askAgain();
    const covered = directory.cover(clock.now(), 400);
    expect(runs).toHaveLength(2);
    runs[0]?.reject(unavailable(60));
    await former;
    expect(directory.retryMs()).toBeLessThanOrEqual(0);
    runs[1]?.resolve({ isComplete: true });
    expect((await covered).isComplete).toBe(true);
  });

  test('believes nothing that was learnt before the clock was set back', async () => {
    const { clock, directory, runs } = setUp();
    const covered = directory.cover(clock.now(), 400);
    runs[0]?.resolve({ isComplete: true });
    await covered;
    clock.set(clock.now() - SECOND);
    void directory.cover(clock.now(), 400);
    expect(runs).toHaveLength(2);
  });
});

test('while the tracker locks us out nothing is asked, and at once when it takes us again', async () => {
  const { clock, directory, runs, lockOut } = setUp();
  lockOut(true);
  expect((await directory.cover(clock.now(), 400)).until).toBe(-Infinity);
  expect([runs.length, directory.retryMs()]).toEqual([0, 5 * SECOND]);
  lockOut(false);
  const covered = directory.cover(clock.now(), 400);
  runs[0]?.resolve({ isComplete: true });
  expect((await covered).isComplete).toBe(true);
});

describe('a look-up by number', () => {
  /** Matches an event that names a lead of which nothing is known; the tracker fails. */
  async function setUpLookUp() {
    const { clock, ...others } = setUp();
    const database = temporaryDatabase();
    let asked = 0;
    const learn = async (): Promise<never> => {
      asked += 1;
      throw unavailable();
    };
    const { db, repository } = leadStoreIn(database);
    const lookUp = { db, repository, filler: { learn }, directory: others.directory, clock };
    const progress = { stage: 'match', askedAt: clock.now(), misses: 0 } as const;
    const match = { leads: [], conflicts: [], unknownLeadId: 7 };
    const wanted = {
      names: [{ kind: 'lead-id', number: 7 } as const],
      times: { createdBefore: clock.now(), receivedAt: clock.now() },
      isCovered: false,
    };
    const ask = async (): Promise<number> => {
      await matchByNumber(lookUp, { progress, match }, wanted);
      return asked;
    };
    return { ...others, clock, ask };
  }

  test('that failed is followed by none before a catch-up may be made, or the credential is another one', async () => {
    const { clock, directory, runs, ask } = await setUpLookUp();
    const covered = directory.cover(clock.now(), 400);
    runs[0]?.reject(unavailable(20));
    await covered;
    expect([await ask(), await ask()]).toEqual([1, 1]);
    await clock.advance(20 * SECOND - 1);
    expect(await ask()).toBe(1);
    await clock.advance(1);
    expect(await ask()).toBe(2);
    runs.length = 0;
    const again = directory.cover(clock.now(), 400);
    runs[0]?.reject(unavailable(20));
    await again;
    expect([await ask(), await ask()]).toEqual([3, 3]);
    directory.askAgain();
    expect(await ask()).toBe(4);
  });

  test('is made at once when the tracker takes us again, whatever was matched while it did not', async () => {
    const { lockOut, ask } = await setUpLookUp();
    lockOut(true);
    expect(await ask()).toBe(0);
    lockOut(false);
    expect(await ask()).toBe(1);
  });
});
