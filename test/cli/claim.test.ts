import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { createAuditLog } from '#adapters/sqlite/audit-log.ts';
import { createClaimStore } from '#adapters/sqlite/claims.ts';
import type { Database } from '#adapters/sqlite/database.ts';
import { UsageError } from '#cli/command.ts';
import { registerClaim } from '#cli/commands/claim.ts';
import { createFakeClock } from '../support/clock.ts';
import { runCommand } from '../support/command.ts';
import { claimLeads, openedDirectory, REPOSITORY } from '../support/directory.ts';
import { connectTo, temporaryDatabase } from '../support/stores.ts';

let database: Database;
const clock = createFakeClock();
const at = clock.now();

beforeEach(async () => {
  database = temporaryDatabase();
  await openedDirectory(database);
});

/** Runs `trackport claim …` on a connection of its own. */
async function claim(args: string[], how: { json?: boolean } = {}): Promise<string> {
  const claims = createClaimStore(connectTo(database.handle.name), { repository: REPOSITORY });
  return (await runCommand(registerClaim, { args, services: { claims }, clock, ...how })).out;
}

test('`list` shows number, receipt and instant', async () => {
  claimLeads(database, { numbers: [12], at });
  expect(JSON.parse(await claim(['list'], { json: true }))).toEqual({
    items: [{ number: 12, receiptId: 'receipt-1', claimedAt: '2026-03-01T12:00:00Z' }],
    pagination: { hasMore: false },
  });
  expect(await claim(['list'])).toMatch(/NUMBER +CLAIMED +RECEIPT\n12 +2026-03-01T12:00:00Z/);
});

test('`list` says so when there is nothing', async () => {
  expect(await claim(['list'])).toBe('No lead is claimed.\n');
});

test('`release` gives the lead back and says who did it in the audit log', async () => {
  claimLeads(database, { numbers: [12], at });
  const view = createClaimStore(database, { repository: REPOSITORY });
  expect((await view.current()).has(12)).toBe(true);
  expect(JSON.parse(await claim(['release', '12'], { json: true }))).toEqual({
    number: 12,
    released: true,
  });
  await nextTurn();
  expect((await view.current()).has(12)).toBe(false);
  expect(createAuditLog(database).listOf('claim/12')).toEqual([
    {
      at,
      actor: { kind: 'cli', subject: 'operator' },
      action: 'claim.release',
      subject: 'claim/12',
    },
  ]);
});

test('`release` fails for a lead that is not claimed, and for what is no number', async () => {
  await expect(claim(['release', '12'])).rejects.toMatchObject({ code: 'not-found' });
  for (const wrong of ['0', '1x', '-1', '1.5'])
    await expect(claim(['release', '--', wrong])).rejects.toBeInstanceOf(UsageError);
});
