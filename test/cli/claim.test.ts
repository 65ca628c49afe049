import { setImmediate as nextTurn } from 'node:timers/promises';
import { Command } from 'commander';
import { beforeEach, expect, test } from 'vitest';
import { createAuditLog } from '#adapters/sqlite/audit-log.ts';
import { createClaimStore } from '#adapters/sqlite/claims.ts';
import type { Database } from '#adapters/sqlite/database.ts';
import { type ActionOf, type Task, UsageError } from '#cli/command.ts';
import { type ClaimServices, registerClaim } from '#cli/commands/claim.ts';
import type { Config } from '#config/schema.ts';
import { createFakeClock } from '../support/clock.ts';
import { claimLeads, openedDirectory, REPOSITORY } from '../support/directory.ts';
import { connectTo, temporaryDatabase } from '../support/stores.ts';

let database: Database;
const clock = createFakeClock();
const at = clock.now();

beforeEach(async () => {
  database = temporaryDatabase();
  await openedDirectory(database);
});

/** Runs `trackport claim …` on a connection of its own, as the command line does. */
async function claim(args: string[], { json = false } = {}): Promise<string> {
  let out = '';
  const services: ClaimServices = {
    claims: createClaimStore(connectTo(database.handle.name), { repository: REPOSITORY }),
  };
  const terminal = {
    print: (text: string) => {
      out += `${text}\n`;
    },
    note: () => undefined,
    colour: false,
    interactive: false,
  };
  const actor = { kind: 'cli' as const, subject: 'operator' };
  const action: ActionOf<ClaimServices> =
    <Options>(work: (task: Task<ClaimServices, Options>) => Promise<void>) =>
    async (...received: unknown[]) => {
      const command = received.at(-1) as Command;
      const base = { services, config: {} as Config, terminal, clock, actor, json };
      await work({ ...base, args: command.args, options: command.opts() as Options });
    };
  const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  registerClaim(program.command('claim'), action);
  await program.parseAsync(['claim', ...args], { from: 'user' });
  return out;
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
