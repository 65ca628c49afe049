import { userInfo } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import type { SqliteDatabase } from '#adapters/sqlite/database.ts';
import { UsageError } from '#cli/command.ts';
import { createClaims } from '../support/claims.ts';
import { createFakeClock } from '../support/clock.ts';
import { environmentOf, runCommand } from '../support/command.ts';
import { claimLeads, openedDirectory } from '../support/directory.ts';
import { temporaryDatabase } from '../support/stores.ts';
import { auditOf } from '../support/audit.ts';

let database: SqliteDatabase;
const clock = createFakeClock();
const at = clock.now();

beforeEach(async () => {
  database = temporaryDatabase();
  await openedDirectory(database);
});

async function claim(...args: string[]): Promise<string> {
  const environment = environmentOf(database);
  return (await runCommand(['claim', ...args], { clock, environment })).out;
}

test('`list` shows lead, instant and receipts', async () => {
  await claimLeads(database, { numbers: [12], at });
  expect(JSON.parse(await claim('list', '--json'))).toEqual({
    items: [{ leadId: '12', claimedAt: '2026-03-01T12:00:00Z', receiptIds: ['receipt-1'] }],
    pagination: { hasMore: false },
  });
  expect(await claim('list')).toMatch(
    /^LEAD +CLAIMED +RECEIPTS\n12 +2026-03-01T12:00:00Z +receipt-1\n$/,
  );
});

test('`list` holds every claim, newest first, however many there are', async () => {
  await claimLeads(database, { numbers: Array.from({ length: 101 }, (_, index) => index + 1), at });
  const { items } = JSON.parse(await claim('list', '--json'));
  const ids = items.map(({ leadId }: { leadId: string }) => leadId);
  expect([ids.length, ids[0], ids.at(-1)]).toEqual([101, '101', '1']);
});

test('`show` tells of one lead, and fails where there is no claim', async () => {
  await claimLeads(database, { numbers: [12], event: 1, at });
  await claimLeads(database, { numbers: [12], event: 2, at });
  const shown = { leadId: '12', claimedAt: '2026-03-01T12:00:00Z' };
  expect(JSON.parse(await claim('show', '12', '--json'))).toEqual({
    ...shown,
    receiptIds: ['receipt-1', 'receipt-2'],
  });
  expect(await claim('show', '#12')).toMatch(
    /^lead +12\nclaimed +2026-03-01T12:00:00Z\nreceipts +receipt-1 receipt-2\n$/,
  );
  await expect(claim('show', '13')).rejects.toMatchObject({ code: 'not-found' });
});

test('`release` gives the lead back and says who did it in the audit log', async () => {
  await claimLeads(database, { numbers: [12], at });
  const view = createClaims(database);
  expect((await view.current()).has(12)).toBe(true);
  expect(JSON.parse(await claim('release', '12', '--json'))).toEqual({
    leadId: '12',
    released: true,
  });
  await nextTurn();
  expect((await view.current()).has(12)).toBe(false);
  expect(await auditOf(database, 'claim/12')).toEqual([
    {
      at,
      actor: { kind: 'cli', subject: userInfo().username },
      action: 'claim.release',
      subject: 'claim/12',
    },
  ]);
});

test('`release` fails for a lead that is not claimed, and for what is no number', async () => {
  await expect(claim('release', '12')).rejects.toMatchObject({ code: 'not-found' });
  for (const wrong of ['0', '1x'])
    await expect(claim('release', '--', wrong)).rejects.toBeInstanceOf(UsageError);
});
