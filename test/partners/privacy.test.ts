import { existsSync, readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import type { Log } from '#shared/log.ts';
import { ADMIN, leadIssue, openDesk } from '../support/deletion-desk.ts';
import type { Desk } from '../support/deletion-desk.ts';

const EMAIL = 'augusta.ada@example.com';
const MESSAGE = 'Please call me about the analytical engine';
const personal = [EMAIL, 'augusta', MESSAGE, 'analytical'];

const lead = () => leadIssue({ email: EMAIL, message: MESSAGE, correlationId: 'corr-of-ada' });

function storeBytes(desk: Desk): Buffer {
  const file = desk.database.handle.name;
  const files = ['', '-wal', '-shm']
    .map((suffix) => file + suffix)
    .filter((name) => existsSync(name));
  return Buffer.concat(files.map((name) => readFileSync(name)));
}

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
  const desk = await openDesk({ log, actions: ['relabel', 'close', 'comment', 'redact'] });
  desk.tracker.createIssue(lead());
  await desk.start();
  desk.tracker.createIssue(lead());
  desk.tracker.fault({ kind: 'status', status: 422, json: { message: EMAIL }, method: 'PATCH' });
  desk.tracker.fault({ kind: 'status', status: 500, text: MESSAGE, method: 'PATCH', skip: 1 });
  const id = await desk.send({ email: EMAIL, note: MESSAGE, firstName: 'Augusta' });
  const receipt = await desk.settled(id);
  expect(receipt.events[0]).toMatchObject({ outcome: 'DONE', erasure: 'incomplete-history' });
  await vi.waitFor(() => expect(readFileSync(`${desk.database.handle.name}-wal`)).toHaveLength(0), {
    timeout: 5000,
  });
  expectNoTrace(storeBytes(desk));
  expectNoTrace(log.lines.join('\n'));
  expectNoTrace(JSON.stringify(receipt));
  for (const issue of desk.tracker.issues()) {
    expectNoTrace(JSON.stringify([issue.title, issue.body, issue.comments]));
  }
  expect(log.lines.length).toBeGreaterThan(0);
});

test('what is settled leaves the write-ahead log also while the tracker wants no calls', async () => {
  const desk = await openDesk();
  const [done, waiting] = [lead(), lead()].map((issue) => desk.tracker.createIssue(issue).number);
  const path = `/issues/${waiting}$`;
  desk.tracker.fault({ kind: 'secondary-limit', retryAfterSeconds: 600, path });
  await desk.start();
  const id = await desk.send([{ leadId: done }, { leadId: waiting }]);
  await vi.waitFor(
    async () => {
      expect((await desk.read(id)).events.map(({ outcome }) => outcome)).toEqual([
        'DONE',
        'PENDING',
      ]);
      expect(readFileSync(`${desk.database.handle.name}-wal`)).toHaveLength(0);
    },
    { timeout: 5000 },
  );
});

test('while it waits, the payload is in the store in no readable form', async () => {
  const desk = await openDesk();
  await desk.send({ email: EMAIL, note: MESSAGE });
  expectNoTrace(storeBytes(desk));
  const payload = desk.database.handle.prepare('SELECT payload FROM event').pluck().get();
  expect(payload).toBeInstanceOf(Buffer);
});

test('the payload of a settled deletion is gone, that of a dead letter is kept for replay', async () => {
  const desk = await openDesk({ adminToken: ADMIN, worker: { retryMs: [] } });
  const kept = desk.database.handle.prepare<[], number>('SELECT count(payload) FROM event').pluck();
  const { number } = desk.tracker.createIssue(lead());
  await desk.start();
  await desk.settled(await desk.send({ leadId: String(number) }));
  expect(kept.get()).toBe(0);
  const failing = desk.tracker.createIssue(lead()).number;
  desk.tracker.fault({ kind: 'status', status: 500, method: 'PATCH' });
  const receipt = await desk.settled(await desk.send({ leadId: String(failing) }));
  expect(receipt.events[0]?.outcome).toBe('FAILED');
  expect(kept.get()).toBe(1);
  expectNoTrace(storeBytes(desk));
});

test('the lead directory keeps hashes only', async () => {
  const desk = await openDesk();
  desk.tracker.createIssue(lead());
  await desk.start();
  expectNoTrace(storeBytes(desk));
  expect(storeBytes(desk).toString('latin1')).not.toContain('corr-of-ada');
});
