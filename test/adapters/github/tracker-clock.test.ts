import { expect, test } from 'vitest';
import { DAY, HOUR, MINUTE, SECOND } from '#shared/clock.ts';
import { createTrackerClock } from '#adapters/github/tracker-clock.ts';
import { createFakeClock } from '../../support/clock.ts';

/** Our clock, and a tracker whose clock is `aheadMs` ahead of it. */
function createWorld() {
  const own = createFakeClock();
  const lines: string[] = [];
  const write =
    (level: string) =>
    (fields: object, text: string): void =>
      void lines.push(`${level} ${JSON.stringify(fields)} ${text}`);
  const tracker = createTrackerClock(own, { info: write('info'), warn: write('warn') });
  const respond = (aheadMs: number, durationMs = 0): void => {
    const at = own.now() - durationMs / 2 + aheadMs;
    tracker.note({ dateMs: Math.floor(at / SECOND) * SECOND, durationMs });
  };
  return { own, tracker, lines, respond };
}

test('until the tracker has told its time ours counts', () => {
  const { own, tracker } = createWorld();
  tracker.note({ durationMs: 1 });
  expect(tracker.skewMs()).toBeUndefined();
  expect(tracker.clock.now()).toBe(own.now());
});

test.each([30 * MINUTE, -30 * MINUTE])(
  'a clock that is %i ms apart is the tracker’s from its first response on',
  (aheadMs) => {
    const { own, tracker, respond } = createWorld();
    respond(aheadMs, 2000);
    expect(Math.abs((tracker.skewMs() ?? 0) - aheadMs)).toBeLessThanOrEqual(SECOND);
    expect(Math.abs(tracker.clock.now() - own.now() - aheadMs)).toBeLessThanOrEqual(SECOND);
  },
);

test('what whole seconds and the way explain changes nothing', () => {
  const { own, tracker, respond, lines } = createWorld();
  for (const aheadMs of [9000, -9000, 0, 400]) respond(aheadMs);
  expect(tracker.clock.now()).toBe(own.now());
  expect(tracker.skewMs()).toBeDefined();
  expect(lines).toEqual([]);
});

test.each([
  ['about as far apart as can be measured', 10 * SECOND, [400, -400]],
  ['far apart, and told by responses that take their time', 30 * MINUTE, [-2000, 2000, 0]],
])('a clock that is %s is not moved to and fro', (_how, aheadMs, errorsMs) => {
  const { own, tracker, respond } = createWorld();
  const corrections = new Set<number>();
  for (let turn = 0; turn < 30; turn += 1) {
    respond(aheadMs + (errorsMs[turn % errorsMs.length] ?? 0));
    corrections.add(tracker.clock.now() - own.now());
  }
  for (let turn = 0; turn < 5; turn += 1) {
    respond(aheadMs + 2000);
    corrections.add(tracker.clock.now() - own.now());
  }
  expect([...corrections]).toHaveLength(1);
});

test('one response that is wrong, or was long under way, counts for nothing', () => {
  const { own, tracker, respond } = createWorld();
  respond(0);
  respond(0);
  respond(30 * MINUTE);
  respond(0, 60 * SECOND);
  expect(tracker.clock.now()).toBe(own.now());
});

test('somebody who sets our clock right is believed at once, and a machine that slept', async () => {
  const { own, tracker, respond } = createWorld();
  for (let at = 0; at < 5; at += 1) respond(30 * MINUTE);
  await own.advance(MINUTE);
  expect(tracker.clock.now() - own.now()).toBeGreaterThan(29 * MINUTE);
  own.set(own.now() + 30 * MINUTE);
  expect(tracker.clock.now()).toBe(own.now());
  expect(tracker.skewMs()).toBeUndefined();
  respond(0);
  expect(tracker.clock.now()).toBe(own.now());
});

test.each([0, -30 * MINUTE])(
  'somebody who sets our clock back by an hour moves nothing: it was %i ms apart',
  (aheadMs) => {
    const { own, tracker, respond } = createWorld();
    for (let at = 0; at < 5; at += 1) respond(aheadMs);
    const before = tracker.clock.now();
    own.set(own.now() - HOUR);
    expect(Math.abs(tracker.clock.now() - before)).toBeLessThanOrEqual(SECOND);
    respond(aheadMs + HOUR);
    expect(Math.abs(tracker.clock.now() - before)).toBeLessThanOrEqual(SECOND);
  },
);

test('somebody who sets our clock back before the tracker has told its time moves nothing, too', () => {
  const { own, tracker } = createWorld();
  const before = tracker.clock.now();
  own.set(own.now() - HOUR);
  expect(tracker.clock.now()).toBe(before);
});

test('what is taken away by its age counts by the clock that is behind, once both are known', () => {
  const { own, tracker, respond } = createWorld();
  expect(tracker.earliestNow()).toBeUndefined();
  respond(-60 * DAY);
  expect(tracker.earliestNow()).toBe(tracker.clock.now());
  for (let at = 0; at < 5; at += 1) respond(60 * DAY);
  expect(tracker.earliestNow()).toBe(own.now());
  own.set(own.now() + 60 * DAY);
  expect(tracker.earliestNow()).toBeUndefined();
});

test('the log has one line when the clocks are apart, and one when they agree again', () => {
  const { tracker, respond, lines } = createWorld();
  for (let at = 0; at < 9; at += 1) respond(2 * MINUTE);
  expect(lines).toEqual([
    expect.stringMatching(/^warn \{"clockSkewSeconds":(119|120|121)\} this mach/),
  ]);
  for (let at = 0; at < 9; at += 1) respond(0);
  expect(lines).toHaveLength(2);
  expect(lines[1]).toMatch(/^info \{"clockSkewSeconds":-?[01]\} this machine's clock is that/);
  expect(tracker.skewMs()).toBeLessThan(SECOND);
});
