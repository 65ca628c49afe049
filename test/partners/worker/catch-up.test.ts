import { describe, expect, test } from 'vitest';
import { createCatchUpDesk } from '#partners/worker/catch-up.ts';
import { HOUR, SECOND } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { silentLog } from '#shared/log.ts';
import { createFakeClock } from '../../support/clock.ts';

function setUp() {
  const clock = createFakeClock();
  const runs: PromiseWithResolvers<{ complete: boolean }>[] = [];
  const failures: number[] = [];
  const reaches: number[] = [];
  const desk = createCatchUpDesk({
    catchUp: (since) => {
      reaches.push(since);
      const run = Promise.withResolvers<{ complete: boolean }>();
      runs.push(run);
      return run.promise;
    },
    clock,
    log: silentLog,
    onFailure: async () => {
      failures.push(clock.now());
    },
  });
  return { clock, desk, failures, reaches, runs };
}

const unavailable = (retryAfterSeconds?: number) =>
  new TrackportError('tracker-unavailable', {
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });

describe('the desk', () => {
  test('asks once for what one run covers', async () => {
    const { clock, desk, runs } = setUp();
    const now = clock.now();
    const asked = [desk.cover(now, 400), desk.cover(now, 400)];
    runs[0]?.resolve({ complete: true });
    for (const answer of asked) expect(await answer).toMatchObject({ until: now, complete: true });
    expect(await desk.cover(now, 400)).toMatchObject({ until: now, complete: true });
    expect(runs).toHaveLength(1);
  });

  test('does not wait long for a slow run, and uses it when it has landed', async () => {
    const { clock, desk, runs } = setUp();
    const now = clock.now();
    const asked = desk.cover(now, 400);
    await clock.advance(400);
    expect((await asked).complete).toBe(false);
    const again = desk.cover(now, 400);
    runs[0]?.resolve({ complete: true });
    expect(await again).toMatchObject({ until: now, complete: true });
    expect(runs).toHaveLength(1);
  });

  test('reads further back for what was missed before, once for all that ask for no more', async () => {
    const { clock, desk, reaches, runs } = setUp();
    const now = clock.now();
    const usual = desk.cover(now, 400);
    const missed = [desk.cover(now, 400, now - HOUR), desk.cover(now, 400, now - SECOND)];
    for (const run of runs) run.resolve({ complete: true });
    expect(await usual).toMatchObject({ until: now, complete: true });
    for (const answer of missed) expect(await answer).toMatchObject({ since: now - HOUR });
    expect(await desk.cover(now, 400, now - SECOND)).toMatchObject({ since: now - HOUR });
    expect(reaches).toEqual([Infinity, now - HOUR]);
  });

  test('does not wait for an instant that a clock told wrongly', async () => {
    const { clock, desk, runs } = setUp();
    const first = desk.cover(clock.now(), 400);
    runs[0]?.reject(unavailable(30));
    await first;
    clock.set(clock.now() - HOUR);
    const again = desk.cover(clock.now(), 400);
    expect(runs).toHaveLength(2);
    runs[1]?.resolve({ complete: true });
    expect((await again).complete).toBe(true);
  });

  test('asks anew for what happened after a run began', async () => {
    const { clock, desk, runs } = setUp();
    const early = desk.cover(clock.now(), 400);
    await clock.advance(10);
    const late = desk.cover(clock.now(), 400);
    runs[0]?.resolve({ complete: true });
    await early;
    expect(runs).toHaveLength(2);
    runs[1]?.resolve({ complete: true });
    expect((await late).until).toBe(clock.now());
  });

  test('asks anew while the first crawl is not complete', async () => {
    const { clock, desk, runs } = setUp();
    const asked = desk.cover(clock.now(), 400);
    runs[0]?.resolve({ complete: false });
    expect((await asked).complete).toBe(false);
    void desk.cover(clock.now(), 400);
    expect(runs).toHaveLength(2);
  });

  test('leaves a failing tracker alone, longer each time, and as long as it names', async () => {
    const { clock, desk, failures, runs } = setUp();
    for (const [failure, wait] of [
      [unavailable(), SECOND],
      [unavailable(), 2 * SECOND],
      [unavailable(20), 20 * SECOND],
    ] as const) {
      const count = runs.length;
      const asked = desk.cover(clock.now(), 400);
      runs[count]?.reject(failure);
      await asked;
      expect(desk.retryAt()).toBe(clock.now() + wait);
      await desk.cover(clock.now(), 400);
      expect(runs).toHaveLength(count + 1);
      await clock.advance(wait);
    }
    expect(failures).toHaveLength(3);
  });

  test('believes nothing that was learnt before the clock was set back', async () => {
    const { clock, desk, runs } = setUp();
    const asked = desk.cover(clock.now(), 400);
    runs[0]?.resolve({ complete: true });
    await asked;
    clock.set(clock.now() - SECOND);
    void desk.cover(clock.now(), 400);
    expect(runs).toHaveLength(2);
  });
});
