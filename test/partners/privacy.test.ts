import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Log } from '#shared/log.ts';
import { ADMIN, leadIssue } from '../support/deletions/tracker.ts';
import { type DeletionWorld, openDeletions } from '../support/deletions/world.ts';
import { eventually } from '../support/eventually.ts';

const EMAIL = 'augusta.ada@example.com';
const MESSAGE = 'Please call me about the analytical engine';
const personal = [EMAIL, 'augusta', MESSAGE, 'analytical'];

const lead = () => leadIssue({ email: EMAIL, message: MESSAGE, correlationId: 'corr-of-ada' });

function storeBytes(world: DeletionWorld): Buffer {
  const file = world.database.handle.name;
  const files = ['', '-wal', '-shm']
    .map((suffix) => file + suffix)
    .filter((name) => existsSync(name));
  return Buffer.concat(files.map((name) => readFileSync(name)));
}

/** Payloads of events that wait, as the store has them: sealed. */
function sealedPayloads({ database }: DeletionWorld): Buffer[] {
  const sql = 'SELECT payload FROM event ORDER BY position';
  return database.handle.prepare<[], Buffer>(sql).pluck().all();
}

/** Waits until no file of the store has the bytes, its log included, which other writes may have begun anew. */
const untilGone = (world: DeletionWorld, payload: Buffer | undefined): Promise<void> => {
  expect(payload).toBeInstanceOf(Buffer);
  return eventually(() => expect(storeBytes(world).includes(payload ?? '')).toBe(false));
};

const expectNoTrace = (bytes: Buffer | string): void => {
  const text = bytes.toString('latin1').toLowerCase();
  for (const word of personal) expect(text).not.toContain(word.toLowerCase());
};

/** A log that keeps every line. */
function recordingLog(): Log & { lines: string[] } {
  const lines: string[] = [];
  const keep = (fields: object, message: string): void => {
    lines.push(`${message} ${JSON.stringify(fields)}`);
  };
  return { lines, isDebug: () => true, debug: keep, info: keep, warn: keep, error: keep };
}

test('after a deletion is settled nothing of the person is in the store, its log or ours', async () => {
  const log = recordingLog();
  const world = await openDeletions({ log, actions: ['relabel', 'close', 'comment', 'redact'] });
  world.tracker.createIssue(lead());
  await world.start();
  world.tracker.createIssue(lead());
  const refusal = { message: EMAIL, errors: [{ field: 'state_reason', value: EMAIL }] };
  world.tracker.fault({ kind: 'status', status: 422, json: refusal, method: 'PATCH' });
  world.tracker.fault({ kind: 'status', status: 500, text: MESSAGE, method: 'PATCH', skip: 1 });
  const id = await world.send({ email: EMAIL, note: MESSAGE, firstName: 'Augusta' });
  const [sealed] = sealedPayloads(world);
  const receipt = await world.settled(id);
  expect(receipt.events[0]).toMatchObject({ outcome: 'DONE', erasure: 'incomplete-history' });
  await untilGone(world, sealed);
  expectNoTrace(storeBytes(world));
  expectNoTrace(log.lines.join('\n'));
  expectNoTrace(JSON.stringify(receipt));
  for (const issue of world.tracker.issues()) {
    expectNoTrace(JSON.stringify([issue.title, issue.body, issue.comments]));
  }
  expect(log.lines.length).toBeGreaterThan(0);
});

test('what is settled leaves the write-ahead log also while the tracker wants no calls', async () => {
  const world = await openDeletions();
  const [done, waiting] = [lead(), lead()].map((issue) => world.tracker.createIssue(issue).number);
  const path = `/issues/${waiting}$`;
  world.tracker.fault({ kind: 'secondary-limit', retryAfterSeconds: 600, path });
  await world.start();
  const id = await world.send([{ leadId: done }, { leadId: waiting }]);
  const [settled] = sealedPayloads(world);
  await untilGone(world, settled);
  const { events } = await world.read(id);
  expect(events.map(({ outcome }) => outcome)).toEqual(['DONE', 'PENDING']);
});

test('while it waits, the payload is in the store in no readable form', async () => {
  const world = await openDeletions();
  await world.send({ email: EMAIL, note: MESSAGE });
  expectNoTrace(storeBytes(world));
  expect(sealedPayloads(world)).toEqual([expect.any(Buffer)]);
});

test('the payload of a settled deletion is gone, that of a dead letter is kept for replay', async () => {
  const world = await openDeletions({ adminToken: ADMIN, worker: { retryMs: [] } });
  const kept = world.database.handle
    .prepare<[], number>('SELECT count(payload) FROM event')
    .pluck();
  const { number } = world.tracker.createIssue(lead());
  await world.start();
  await world.settled(await world.send({ leadId: String(number) }));
  expect(kept.get()).toBe(0);
  const failing = world.tracker.createIssue(lead()).number;
  world.tracker.fault({ kind: 'status', status: 500, method: 'PATCH' });
  const receipt = await world.settled(await world.send({ leadId: String(failing) }));
  expect(receipt.events[0]?.outcome).toBe('FAILED');
  expect(kept.get()).toBe(1);
  expectNoTrace(storeBytes(world));
});

test('the lead directory keeps hashes only', async () => {
  const world = await openDeletions();
  world.tracker.createIssue(lead());
  await world.start();
  expectNoTrace(storeBytes(world));
  expect(storeBytes(world).toString('latin1')).not.toContain('corr-of-ada');
});
