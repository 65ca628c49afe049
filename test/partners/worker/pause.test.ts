import { expect, test } from 'vitest';
import { createTrackerPause } from '#partners/worker/pause.ts';
import { HOUR, MINUTE } from '#shared/clock.ts';
import { silentLog } from '#shared/log.ts';
import { createFakeClock } from '../../support/clock.ts';

function createWorld() {
  const clock = createFakeClock(HOUR);
  const lines: string[] = [];
  const note = (_fields: object, message: string): void => void lines.push(message);
  const log = { ...silentLog, error: note, info: note };
  return { clock, lines, pause: createTrackerPause({ clock, log, probeEveryMs: MINUTE }) };
}

test('a pause that is confirmed goes on since it began, and is said once', async () => {
  const { clock, lines, pause } = createWorld();
  pause.begin('forbidden', { isCertain: false });
  await clock.advance(1000);
  pause.begin('unauthorized');
  const probeAt = clock.monotonicMs() + MINUTE;
  expect(pause.current()).toEqual({
    code: 'unauthorized',
    since: HOUR,
    probeAt,
    isCertain: true,
  });
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
