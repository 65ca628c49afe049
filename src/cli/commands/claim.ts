import { parseLeadId } from '#leads/model/identity.ts';
import { type ClaimedLeads, listClaims, readClaim } from '#leads/claims/claimed-leads.ts';
import { releaseClaim } from '#partners/receipts/release-claim.ts';
import { printJson, readAll, type Register, type Task, UsageError } from '../command.ts';
import { withStore } from '../with-store.ts';
import { renderFacts, renderTable } from '../table.ts';

/** Adds `claim list`, `show` and `release`. */
export const registerClaim: Register = (parent, { action }) => {
  parent
    .command('list')
    .description('list the leads that deletions have claimed, newest claim first')
    .action(action(showList));
  parent
    .command('show <number>')
    .description('show which receipts claim a lead, and since when')
    .action(action(showClaim));
  parent
    .command('release <number>')
    .description('give a lead back to readers after a wrong match; its issue is left as it is')
    .action(action(release));
};

function withClaims<T>(task: Task, work: (claims: ClaimedLeads) => Promise<T>): Promise<T> {
  return withStore(task, ({ leadsBy, cursors }) => work({ ...leadsBy(task.clock), cursors }));
}

async function showList(task: Task): Promise<void> {
  const { terminal, isJson } = task;
  const items = await withClaims(task, (claims) => readAll((page) => listClaims(claims, page)));
  if (isJson) return printJson(terminal, { items, pagination: { hasMore: false } });
  const rows = items.map(({ leadId, claimedAt, receiptIds }) => [
    leadId,
    claimedAt,
    receiptIds.join(' '),
  ]);
  return terminal.print(renderTable(['lead', 'claimed', 'receipts'], rows, 'No lead is claimed.'));
}

async function showClaim(task: Task): Promise<void> {
  const { terminal, isJson, args } = task;
  const leadId = toLeadId(args[0] ?? '');
  const claim = await withClaims(task, (claims) => readClaim(claims, leadId));
  if (isJson) return printJson(terminal, claim);
  return terminal.print(
    renderFacts([
      ['lead', claim.leadId],
      ['claimed', claim.claimedAt],
      ['receipts', claim.receiptIds.join(' ')],
    ]),
  );
}

async function release(task: Task): Promise<void> {
  const { terminal, isJson, args, actor } = task;
  const leadId = toLeadId(args[0] ?? '');
  await withClaims(task, (claims) => releaseClaim(claims, leadId, { actor }));
  if (isJson) return printJson(terminal, { leadId, released: true });
  terminal.print(`Lead ${leadId} is released.`);
  return terminal.note(
    'Readers see it again once its issue carries the approved label and not the deleted one: set the one, take off the other, and open it, on the tracker.',
  );
}

function toLeadId(text: string): string {
  const number = parseLeadId(text);
  if (number !== undefined) return String(number);
  throw new UsageError(`NUMBER is an issue number, such as 42, not "${text}"`);
}
