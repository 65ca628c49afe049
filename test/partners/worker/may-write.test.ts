import { describe, expect, test } from 'vitest';
import {
  createPacer,
  createTrackerPause,
  createWriteRefusals,
  suspectPause,
} from '#partners/worker/may-write.ts';
import { HOUR, MINUTE } from '#shared/clock.ts';
import { createFakeClock } from '../../support/clock.ts';
import { silentLog } from '#shared/log.ts';

const { signal } = new AbortController();

test('writes start at least the interval apart, however long each takes', async () => {
  const clock = createFakeClock(0);
  const pacer = createPacer(clock, 1000);
  const startedAt: number[] = [];
  const writing = (async () => {
    for (const takesMs of [300, 2500, 0]) {
      await pacer.turn(signal);
      await clock.sleep(100); // what the write depends on is read
      pacer.noteWrite();
      startedAt.push(clock.now());
      await clock.sleep(takesMs);
    }
  })();
  await clock.advance(0);
  for (let step = 0; step < 60; step += 1) await clock.advance(100);
  await writing;
  expect(startedAt).toEqual([100, 1200, 3800]);
});

test('a turn that is not used for a write makes nobody wait', async () => {
  const clock = createFakeClock(0);
  const pacer = createPacer(clock, 1000);
  await pacer.turn(signal);
  await pacer.turn(signal);
  expect(clock.now()).toBe(0);
});

test('a clock that is set back makes no write wait for longer', async () => {
  const clock = createFakeClock(HOUR);
  const pacer = createPacer(clock, 1000);
  pacer.noteWrite();
  clock.set(0);
  const turn = pacer.turn(signal);
  await clock.advance(1000);
  await turn;
  expect(clock.now()).toBe(1000);
});

test('a worker that stops begins no write', async () => {
  const stopped = AbortSignal.abort(new Error('stop'));
  await expect(createPacer(createFakeClock(), 0).turn(stopped)).rejects.toThrow('stop');
});

describe('writes that are refused without a reason are the repository’s', () => {
  test('once three issues in a row were refused, each counted once', () => {
    const refusals = createWriteRefusals();
    const isGeneral = [1, 1, 1, 2, 1, 3, 1].map((number) => refusals.noteRefusal(number));
    expect(isGeneral).toEqual([false, false, false, false, false, true, true]);
  });

  test('only with no success between', () => {
    const refusals = createWriteRefusals();
    for (const number of [1, 2]) refusals.noteRefusal(number);
    refusals.noteSuccess();
    expect([3, 1].map((number) => refusals.noteRefusal(number))).toEqual([false, false]);
    expect(refusals.noteRefusal(2)).toBe(true);
  });
});

function createWorld() {
  const clock = createFakeClock(HOUR);
  const lines: string[] = [];
  const note = (_fields: object, message: string): void => void lines.push(message);
  const log = { ...silentLog, error: note, info: note };
  return { clock, lines, pause: createTrackerPause({ clock, log, probeEveryMs: MINUTE }) };
}

test('a pause that is confirmed goes on since it began, and is said once', async () => {
  const { clock, lines, pause } = createWorld();
  pause.begin('forbidden');
  await clock.advance(1000);
  pause.begin('unauthorized');
  const probeAt = clock.monotonicMs() + MINUTE;
  expect(pause.current()).toEqual({ code: 'unauthorized', since: HOUR, probeAt });
  pause.end();
  expect([pause.current(), lines.length]).toEqual([undefined, 2]);
});

test('the next probe of a pause is put off by the time between two', async () => {
  const { clock, pause } = createWorld();
  pause.begin('forbidden');
  await clock.advance(MINUTE);
  pause.probeLater();
  expect(pause.current()?.probeAt).toBe(clock.monotonicMs() + MINUTE);
});

test('a clock that is set back makes neither a probe nor a rate limit wait for longer', () => {
  const { clock, pause } = createWorld();
  pause.begin('forbidden');
  pause.limitUntil(HOUR + 5 * MINUTE);
  clock.set(0);
  const probeMs = (pause.current()?.probeAt ?? 0) - clock.monotonicMs();
  expect([probeMs, pause.limitedMs()]).toEqual([MINUTE, 5 * MINUTE]);
});

test('there is no rate limit before the tracker has named one', () => {
  expect(createWorld().pause.limitedMs()).toBeLessThanOrEqual(0);
});

test('that the tracker refused a credential which was replaced meanwhile begins no pause', async () => {
  const response = Promise.withResolvers<{ kind: 'paused'; code: 'unauthorized' }>();
  const { pause } = createWorld();
  const editor = { checkRepository: () => response.promise };
  const suspecting = suspectPause({ editor, pause, stopping: new AbortController().signal });
  pause.probeNow();
  response.resolve({ kind: 'paused', code: 'unauthorized' });
  await suspecting;
  expect(pause.current()).toBeUndefined();
});
