import { setImmediate } from 'node:timers/promises';
import { onTestFinished, expect, test } from 'vitest';
import {
  type ChangeBatch,
  type InstanceChange,
  createInstanceChanges,
} from '#leads/instance-changes.ts';
import { TrackportError } from '#shared/errors.ts';
import { silentLog } from '#shared/log.ts';
import { createFakeClock } from '../../support/clock.ts';
import { issueChange } from './support.ts';

/** The changes of an instance, on a log that the test fills as other instances would. */
async function setUp() {
  const clock = createFakeClock();
  const log: ChangeBatch[] = [];
  const heard: (InstanceChange | 'gap')[] = [];
  const calls: (() => void)[] = [];
  let isBroken = false;
  const guard = (): void => {
    if (isBroken) throw new TrackportError('store-unavailable');
  };
  const instanceChanges = createInstanceChanges({
    changes: {
      append: async () => undefined,
      openReader: async () => async () => {
        guard();
        return log.splice(0);
      },
      watch: (onAppended) => {
        calls.push(onAppended);
        return { close: async () => void calls.splice(0) };
      },
    },
    clock,
    log: silentLog,
  });
  await instanceChanges.follow({
    onChange: (change) => heard.push(change),
    onGap: () => heard.push('gap'),
  });
  onTestFinished(() => instanceChanges.close());
  const advance = async (ms: number): Promise<void> => {
    await clock.advance(ms);
    await clock.advance(0);
  };
  const breakStore = (now: boolean): void => {
    isBroken = now;
  };
  const notify = async (): Promise<void> => {
    for (const call of calls) call();
    // A look waits for the end of the turn.
    for (let turn = 0; turn < 3; turn += 1) await setImmediate();
  };
  return { instanceChanges, log, heard, advance, notify, breakStore, clock };
}

const batch = (...changes: InstanceChange[]): ChangeBatch => ({ isBehindGap: false, changes });

test('what others publish comes at once when the store tells of it', async () => {
  const { log, heard, notify } = await setUp();
  log.push(batch(issueChange(1)));
  await notify();
  expect(heard).toEqual([issueChange(1)]);
});

test('what others publish comes in order, once, within half a second, also when nobody tells', async () => {
  const { log, heard, advance } = await setUp();
  log.push(batch(issueChange(2), issueChange(3)), batch(issueChange(2)));
  await advance(499);
  expect(heard).toEqual([]);
  await advance(1);
  expect(heard).toEqual([issueChange(2), issueChange(3), issueChange(2)]);
  await advance(500);
  log.push(batch(issueChange(4)));
  await advance(500);
  expect(heard.slice(3)).toEqual([issueChange(4)]);
});

test('a gap is told before what follows', async () => {
  const { log, heard, advance } = await setUp();
  log.push(batch(issueChange(1)), batch(), { isBehindGap: true, changes: [issueChange(2)] });
  await advance(500);
  expect(heard).toEqual([issueChange(1), 'gap', issueChange(2)]);
});

test('whoever did not look for a second is not current until it looked', async () => {
  const { instanceChanges, log, heard, clock } = await setUp();
  log.push(batch(issueChange(1)));
  const waking = clock.advance(60_000); // the process was stopped: nothing has had its turn yet
  expect(instanceChanges.isCurrent()).toBe(false);
  await instanceChanges.becomeCurrent();
  expect(heard).toEqual([issueChange(1)]);
  expect(instanceChanges.isCurrent()).toBe(true);
  await waking;
});

test('while the store fails nobody is current, and nothing is missed when it works again', async () => {
  const { instanceChanges, log, heard, advance, breakStore } = await setUp();
  breakStore(true);
  log.push(batch(issueChange(1)));
  for (let at = 0; at < 3; at += 1) await advance(500);
  expect(instanceChanges.isCurrent()).toBe(false);
  await expect(instanceChanges.becomeCurrent()).rejects.toMatchObject({
    code: 'store-unavailable',
  });
  breakStore(false);
  log.push(batch(issueChange(2)));
  await advance(500);
  expect(instanceChanges.isCurrent()).toBe(true);
  expect(heard).toEqual([issueChange(1), issueChange(2)]);
});

test('whoever closed looks no more', async () => {
  const { instanceChanges, log, heard, advance, notify } = await setUp();
  await instanceChanges.close();
  log.push(batch(issueChange(1)));
  const after = heard.length;
  await notify();
  await advance(1000);
  expect(heard).toHaveLength(after);
});
