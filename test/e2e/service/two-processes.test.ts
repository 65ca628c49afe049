/** Two processes of the program serve one SQLite file: both answer, one works. On PostgreSQL: `instances.test.ts`. */
import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { Tracker } from '#sandbox/tracker/tracker-api.ts';
import BetterSqlite3 from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import { endLease } from '../../support/end-lease.ts';
import { eventually } from '../../support/eventually.ts';
import {
  command,
  createWorld,
  crmOne,
  deletionOf,
  listLeads,
  openLead,
  revokeKey,
  sendDeletion,
  serve,
  storeFileOf,
  workerAt,
} from '../support/world.ts';
import type { Trackport } from '../support/process.ts';

/** A worker that is frozen or dead is followed within 20 seconds; a busy machine takes longer. */
vi.setConfig({ testTimeout: 240_000 });

const settings = {
  partners: {
    'crm-one': {
      ...crmOne,
      deletions: { actions: ['relabel', 'close', 'comment'] },
    },
  },
};

async function deleteLead(url: string, number: number): Promise<{ status: number; id: string }> {
  const answer = await sendDeletion(url, deletionOf(number));
  return { status: answer.status, id: ((await answer.json()) as { id: string }).id };
}

const idsAt = async (url: string, key: string) =>
  (await listLeads(url, key)).map(({ id }) => Number(id));

const expectDeletedOnce = (tracker: Tracker, number: number): void => {
  expect(tracker.readIssue(number)?.state).toBe('closed');
  expect(tracker.readIssue(number)?.comments).toHaveLength(1);
};

/**
 * Freezes a process between two of its writes: one that has the store's lock lets nobody write for a
 * while, which is not what is tested.
 */
async function freeze({ child }: Trackport, config: string): Promise<void> {
  for (;;) {
    child.kill('SIGSTOP');
    await eventually(() => expect(stateOf(child.pid)).toBe('T'));
    if (canWrite(config)) return;
    child.kill('SIGCONT');
    await setImmediate();
  }
}

/** From the system: `T` is stopped. */
function stateOf(pid = 0): string | undefined {
  return /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
}

function canWrite(config: string): boolean {
  const handle = new BetterSqlite3(storeFileOf(config), { timeout: 0 });
  try {
    handle.exec('BEGIN IMMEDIATE; ROLLBACK');
    return true;
  } catch {
    return false;
  } finally {
    handle.close();
  }
}

test('one works and the other stands by; a killed worker is followed without a second comment', async () => {
  const { tracker, config, key } = await createWorld(settings);
  const numbers = [openLead(tracker).number, openLead(tracker).number, openLead(tracker).number];
  const [byFirst = 0, bySecond = 0, atTheEnd = 0] = numbers;
  const first = await serve(config);
  const second = await serve(config);
  expect(await workerAt(first.url)).toBe('ok');
  expect(await workerAt(second.url)).toBe('standby');
  await eventually(async () => {
    const metrics = await (await fetch(`${second.url}/metrics`)).text();
    expect(metrics).toContain('trackport_lead_directory_complete 1');
    expect(metrics).toContain('trackport_worker_active 0');
  });
  for (const { url } of [first, second])
    expect(new Set(await idsAt(url, key))).toEqual(new Set(numbers));

  // Each accepts, and what one claims is out of sight in the other from then on.
  const accepted = [await deleteLead(first.url, byFirst), await deleteLead(second.url, bySecond)];
  expect(accepted.map(({ status }) => status)).toEqual([202, 202]);
  expect(await deleteLead(second.url, byFirst)).toEqual(accepted[0]);
  for (const { url } of [first, second]) expect(await idsAt(url, key)).toEqual([atTheEnd]);
  await eventually(() => {
    for (const number of [byFirst, bySecond]) expectDeletedOnce(tracker, number);
  });

  // The worker dies with a comment under way that the tracker gets and nobody hears of.
  const gate = tracker.hold({ method: 'POST', path: '/comments$' });
  await deleteLead(second.url, atTheEnd);
  await gate.arrived();
  first.run.child.kill('SIGKILL');
  await first.run.exited;
  gate.open();
  await eventually(async () => {
    expect(await workerAt(second.url)).toBe('ok');
    const { items } = JSON.parse(await command(config, 'receipt', 'list')) as {
      items: { status: string }[];
    };
    expect(items.map(({ status }) => status)).toEqual(['PROCESSED', 'PROCESSED', 'PROCESSED']);
  });
  for (const number of numbers) expectDeletedOnce(tracker, number);
});

test('a graceful stop hands the work over, and a revoked key is refused by both', async () => {
  const { tracker, config, key } = await createWorld(settings);
  const number = openLead(tracker).number;
  const first = await serve(config);
  const second = await serve(config);
  for (const { url } of [first, second]) expect(await idsAt(url, key)).toEqual([number]);

  await revokeKey(config);
  for (const { url } of [first, second])
    await eventually(async () => {
      const answer = await fetch(`${url}/api/v1/leads`, { headers: { 'x-api-key': key } });
      expect(answer.status).toBe(401);
    });

  first.run.child.kill('SIGTERM');
  expect(await first.run.exited).toBe(0);
  await second.run.logged('the other process is gone: this one works now');
  expect(await workerAt(second.url)).toBe('ok');
  expect((await deleteLead(second.url, number)).status).toBe(202);
  await eventually(() => expectDeletedOnce(tracker, number));
});

test('one that froze at its work is followed, and what is accepted meanwhile is out of sight; woken up it writes nothing more and stands by', async () => {
  const { tracker, config, key } = await createWorld(settings);
  const [byFrozen, byOther, left] = [
    openLead(tracker).number,
    openLead(tracker).number,
    openLead(tracker).number,
  ];
  const frozen = await serve(config);
  const other = await serve(config);
  expect(await workerAt(other.url)).toBe('standby');
  // It has looked for its comment, and is about to write it.
  const gate = tracker.hold({ method: 'GET', path: '/comments$' });
  expect((await deleteLead(frozen.url, byFrozen)).status).toBe(202);
  await gate.arrived();
  await freeze(frozen.run, config);
  gate.open();
  expect((await deleteLead(other.url, byOther)).status).toBe(202);
  expect(await idsAt(other.url, key)).toEqual([left]); // at once: nobody is there to do it later
  const headers = { 'x-api-key': key };
  const detail = await fetch(`${other.url}/api/v1/leads/${byOther}`, { headers });
  expect(detail.status).toBe(404);
  expect(tracker.readIssue(byOther)?.state).toBe('open');
  await other.run.logged('the other process is gone: this one works now');
  await eventually(() => {
    for (const number of [byFrozen, byOther]) expectDeletedOnce(tracker, number);
  });
  expect(await workerAt(other.url)).toBe('ok');
  await eventually(async () => expect(await openReceipts(config)).toBe(0));
  const writes = (): number =>
    tracker.calls.entries.filter(({ method }) => method !== 'GET').length;
  const before = writes();

  frozen.run.child.kill('SIGCONT');
  await frozen.run.logged('another process has taken over: this one stands by');
  expect(await workerAt(frozen.url)).toBe('standby');
  for (const { url } of [frozen, other]) expect(await idsAt(url, key)).toEqual([left]);

  other.run.child.kill('SIGKILL');
  await other.run.exited;
  endLease(storeFileOf(config));
  await eventually(async () => expect(await workerAt(frozen.url)).toBe('ok'));
  expect(writes()).toBe(before); // what it was at ended before it took over
  expect((await deleteLead(frozen.url, left)).status).toBe(202);
  await eventually(() => {
    for (const number of [byFrozen, byOther, left]) expectDeletedOnce(tracker, number);
  });
});

async function openReceipts(config: string): Promise<number> {
  const { items } = JSON.parse(await command(config, 'receipt', 'list')) as {
    items: { status: string }[];
  };
  return items.filter(({ status }) => status === 'ACCEPTED').length;
}
