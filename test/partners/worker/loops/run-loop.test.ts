import { expect, onTestFinished, test } from 'vitest';
import { createAlarm } from '#partners/worker/alarm.ts';
import { type LoopFailure, type LoopName, runLoop } from '#partners/worker/loops/run-loop.ts';
import { MINUTE, SECOND } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { type LogFields, silentLog } from '#shared/log.ts';
import { createFakeClock } from '../../../support/clock.ts';

const away = () => new TrackportError('store-unavailable');

/** A loop whose turns end as `ends` says, the last end again and again. */
function start(ends: (Error | 'well')[]) {
  const clock = createFakeClock();
  const stop = new AbortController();
  const lines: string[] = [];
  const note = (level: string) => (fields: LogFields) =>
    void lines.push(`${level} ${String(fields['error'])}`);
  const alarm = createAlarm(clock);
  const failures = new Map<LoopName, LoopFailure>();
  let turns = 0;
  const running = runLoop(
    {
      alarms: { match: alarm, act: alarm, recheck: alarm },
      failures,
      clock,
      log: { ...silentLog, warn: note('warn'), error: note('error') },
      stopping: stop.signal,
    },
    'act',
    async () => {
      const end = ends.length > 1 ? ends.shift() : ends[0];
      turns += 1;
      if (end instanceof Error) throw end;
      return SECOND;
    },
  );
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  const pass = async (seconds: number) => {
    for (let count = 0; count < seconds; count += 1) await clock.advance(SECOND);
  };
  return { lines, failures, pass, turns: () => turns };
}

test('a store that is away fills no log: the same failure is one line a minute', async () => {
  const { lines, pass, turns, failures } = start([away()]);
  await pass(MINUTE / SECOND - 1);
  expect(turns()).toBeGreaterThan(50);
  expect(failures.get('act')).toMatchObject({ code: 'store-unavailable' });
  expect(lines).toEqual(['warn TrackportError(store-unavailable)']);
  await pass(2);
  expect(lines).toHaveLength(2);
});

test('a mistake of ours is told beside it, as an error', async () => {
  const { lines, pass } = start([away(), new TypeError('x'), away(), new TypeError('x'), 'well']);
  await pass(10);
  expect(lines).toEqual([
    'warn TrackportError(store-unavailable)',
    expect.stringMatching(/^error TypeError/),
  ]);
});
