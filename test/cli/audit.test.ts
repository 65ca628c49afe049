import { beforeEach, expect, test } from 'vitest';
import { type AuditEntry, appendAudit } from '#shared/audit.ts';
import type { SqliteDatabase } from '#adapters/sqlite/database.ts';
import { createFakeClock } from '../support/clock.ts';
import { environmentOf, type Output, runCommand } from '../support/command.ts';
import { temporaryDatabase } from '../support/stores.ts';

let database: SqliteDatabase;
const clock = createFakeClock();

beforeEach(() => {
  database = temporaryDatabase();
});

function write(facts: Partial<AuditEntry> = {}): Promise<void> {
  const entry: AuditEntry = {
    at: clock.now(),
    actor: { kind: 'cli', subject: 'operator' },
    action: 'key.revoke',
    subject: 'consumer/c-1',
    ...facts,
  };
  return database.transaction(async (tx) => appendAudit(tx, entry));
}

function list(...args: string[]): Promise<Output> {
  return runCommand(['audit', 'list', ...args], { clock, environment: environmentOf(database) });
}

async function listed(...args: string[]) {
  const { out } = await list(...args, '--json');
  return JSON.parse(out) as { items: { subject: string }[]; pagination: { nextCursor?: string } };
}

test('as JSON it is what the API answers', async () => {
  await write({ changes: { keyId: 'k', expiresAt: clock.now() }, requestId: 'r-1' });
  expect(await listed()).toEqual({
    items: [
      {
        at: '2026-03-01T12:00:00Z',
        actor: { kind: 'cli', subject: 'operator' },
        action: 'key.revoke',
        subject: 'consumer/c-1',
        changes: { keyId: 'k', expiresAt: '2026-03-01T12:00:00Z' },
        requestId: 'r-1',
      },
    ],
    pagination: { hasMore: false },
  });
});

test('for people it is a table, without control characters from outside', async () => {
  await write({ actor: { kind: 'token', subject: 'x\u001B[31m' }, changes: { name: 'a' } });
  const { out } = await list();
  const [heading, row] = out.split('\n');
  expect(heading).toMatch(/^WHEN +WHO +DID +TO +CHANGES +REQUEST$/);
  expect(row).toMatch(
    /^2026-03-01T12:00:00Z +x\?\[31m \(token\) +key\.revoke +consumer\/c-1 +\{"name":"a"\} +–$/,
  );
  expect(out).not.toContain('\u001B');
});

test('finds by actor, action, subject and time', async () => {
  await write({ subject: 'claim/1' });
  await write({ subject: 'claim/2', action: 'claim.release', at: clock.now() + 1000 });
  const subjects = async (...args: string[]) =>
    (await listed(...args)).items.map(({ subject }) => subject);
  expect(await subjects()).toEqual(['claim/2', 'claim/1']);
  expect(await subjects('--actor', 'operator', '--action', 'key.revoke')).toEqual(['claim/1']);
  expect(await subjects('--subject', 'claim/2')).toEqual(['claim/2']);
  expect(await subjects('--since', '2026-03-01T12:00:01Z')).toEqual(['claim/2']);
});

test('goes on where the page before ended', async () => {
  for (const number of [1, 2, 3]) await write({ subject: `claim/${number}` });
  const { notes } = await list('--limit', '2');
  const [, cursor = ''] = /--cursor (\S+)/.exec(notes) ?? [];
  const { items } = await listed('--limit', '2', '--cursor', cursor);
  expect(items.map(({ subject }) => subject)).toEqual(['claim/1']);
});

test.each([
  ['--action', 'key.lose'],
  ['--since', 'yesterday'],
  ['--limit', '101'],
])('%s %s is a wrong argument that is quoted', async (option, value) => {
  await expect(list(option, value)).rejects.toMatchObject({
    name: 'UsageError',
    message: expect.stringContaining(`"${value}"`),
  });
});
