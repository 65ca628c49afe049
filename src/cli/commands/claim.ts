import type { ClaimStore } from '#leads/claim-store.ts';
import { toRfc3339 } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { printJson, type Register, type Task, UsageError } from '../command.ts';
import { renderTable } from '../table.ts';

/** What the `claim` commands work on. */
export type ClaimServices = { claims: ClaimStore };

type ClaimTask = Task<ClaimServices, unknown>;

/** Adds `claim list` and `claim release`. */
export const registerClaim: Register<ClaimServices> = (parent, action) => {
  parent
    .command('list')
    .description('list the leads that deletions have claimed, oldest claim first')
    .action(action((task) => listClaims(task)));
  parent
    .command('release <number>')
    .description('give a lead back to readers after a wrong match; its issue is left as it is')
    .action(action((task) => releaseClaim(task)));
};

async function listClaims({ services, terminal, json }: ClaimTask): Promise<void> {
  const claims = await services.claims.list();
  const items = claims.map(({ number, receiptId, claimedAt }) => ({
    number,
    receiptId,
    claimedAt: toRfc3339(claimedAt),
  }));
  if (json) return printJson(terminal, { items, pagination: { hasMore: false } });
  const rows = items.map(({ number, receiptId, claimedAt }) => [
    String(number),
    claimedAt,
    receiptId,
  ]);
  return terminal.print(renderTable(['number', 'claimed', 'receipt'], rows, 'No lead is claimed.'));
}

async function releaseClaim({ services, terminal, json, args, clock, actor }: ClaimTask) {
  const number = toNumber(args[0] ?? '');
  const released = await services.claims.release(number, {
    at: clock.now(),
    actor,
    action: 'claim.release',
    subject: `claim/${number}`,
  });
  if (released === 0)
    throw new TrackportError('not-found', { detail: `Lead ${number} is not claimed.` });
  if (json) return printJson(terminal, { number, released: true });
  terminal.print(`Lead ${number} is released.`);
  return terminal.note(
    'Readers see it again once its issue carries the approved label; set that, and open it, on the tracker.',
  );
}

function toNumber(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new UsageError(`NUMBER is an issue number, such as 42, not "${text}"`);
}
