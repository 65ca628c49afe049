import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '#shared/log.ts';
import { killWhoHangs } from '../../../src/compose/processes/pool.ts';
import { createFakeClock } from '../../support/clock.ts';

const TIMEOUT_MS = 30_000;

type State = { responds: boolean; listens: boolean };

/** A process that responds at once, for as long as `responds` holds. */
function createMember(state: Partial<State> = {}) {
  const now: State = { responds: true, listens: true, ...state };
  let kills = 0;
  return {
    now,
    kills: () => kills,
    member: {
      pid: 7,
      isListening: () => now.listens,
      call: () => (now.responds ? Promise.resolve() : new Promise<never>(() => undefined)),
      kill: () => void (kills += 1),
    },
  };
}

function watch(states: Partial<State>[]) {
  const clock = createFakeClock();
  const all = states.map((state) => createMember(state));
  const stopping = new AbortController();
  onTestFinished(() => stopping.abort());
  const lines: object[] = [];
  let hung = 0;
  const log = { error: (fields: object) => void lines.push(fields) };
  const members = all.map(({ member }) => member);
  const onHung = () => void (hung += 1);
  const deps = { members, hangTimeoutMs: TIMEOUT_MS, clock, log: { ...silentLog, ...log }, onHung };
  void killWhoHangs(deps, stopping.signal);
  /** Time passes as it does for a process that runs all the while. */
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 1000) await clock.advance(1000);
  };
  return { clock, all, pass, stopping, lines, hung: () => hung };
}

test('one that says nothing for the whole time is killed once, and told of once', async () => {
  const { all, pass, lines, hung } = watch([{}, {}]);
  const [frozen, well] = all;
  await pass(60_000);
  expect(all.map(({ kills }) => kills())).toEqual([0, 0]);
  Object.assign(frozen?.now ?? {}, { responds: false });
  await pass(TIMEOUT_MS - 6000);
  expect(frozen?.kills()).toBe(0);
  await pass(12_000);
  expect([frozen?.kills(), well?.kills(), hung()]).toEqual([1, 0, 1]);
  await pass(120_000);
  expect([frozen?.kills(), well?.kills(), hung()]).toEqual([1, 0, 1]);
  expect(lines).toEqual([{ hungPid: 7, silentMs: expect.any(Number) as number }]);
});

test('one that comes back in time stays', async () => {
  const { all, pass } = watch([{ responds: false }]);
  const [slow] = all;
  await pass(TIMEOUT_MS - 6000);
  Object.assign(slow?.now ?? {}, { responds: true });
  await pass(TIMEOUT_MS * 3);
  expect(slow?.kills()).toBe(0);
});

test('one that only starts may take four times as long, and no longer', async () => {
  const { all, pass } = watch([{ responds: false, listens: false }]);
  await pass(TIMEOUT_MS * 4 - 6000);
  expect(all[0]?.kills()).toBe(0);
  await pass(12_000);
  expect(all[0]?.kills()).toBe(1);
});

test('time in which the watching process did not run counts for nothing', async () => {
  const { clock, all, pass } = watch([{ responds: false }, {}]);
  await pass(20_000);
  await clock.advance(3_600_000); // frozen, held up, or on a machine that slept
  expect(all.map(({ kills }) => kills())).toEqual([0, 0]);
  await pass(12_000);
  expect(all.map(({ kills }) => kills())).toEqual([1, 0]);
});

test('nobody is killed once a stop has begun', async () => {
  const { all, pass, stopping } = watch([{ responds: false }]);
  await pass(20_000);
  stopping.abort();
  await pass(TIMEOUT_MS * 3);
  expect(all[0]?.kills()).toBe(0);
});
