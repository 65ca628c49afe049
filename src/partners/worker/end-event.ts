import {
  type ClaimOrder,
  claimedBy,
  provisionalClaims,
  toLeadIds,
  withdrawClaims,
} from '#leads/claims/claim-leads.ts';
import { readRepositoryId } from '#leads/directory/directory-view.ts';
import { appendAudit } from '#shared/audit.ts';
import type { Tx } from '#shared/database.ts';
import { toJson } from '#shared/sql.ts';
import type { OutcomeReporter } from '../receipts/report-outcomes.ts';
import { REFRESH_RECEIPT_STATUS, REQUEUE_REPEATED, SET_LEADS } from '../receipts/requeue.ts';
import { IS_MINE, leaseOf } from './lease-events.ts';
import type { Settlement, SettleResult, WorkItem } from './work-item.ts';

/** DONE and IGNORED need their payload no more; the others can be replayed for 30 days. */
const SETTLE = `
  UPDATE event SET outcome = @outcome::text, erasure = @erasure, remains = @remains, note = coalesce(@note, note),
    attempts = @attempts, last_error = @lastError, completed_at = @now, due_at = NULL,
    lease_token = NULL, lease_until = NULL, progress = NULL,
    payload = CASE WHEN @outcome::text IN ('DONE', 'IGNORED') THEN NULL ELSE payload END
  WHERE ${IS_MINE}
  RETURNING receipt`;

/**
 * Ends the event; with DONE or IGNORED its payload is dropped, and with UNMATCHED every claim that no match has
 * confirmed is taken back. An event that came again meanwhile is matched anew at once instead, and so it is whenever it
 * is given back. `repository` is `owner/name` in lower case.
 */
export async function settle(
  session: Tx,
  repository: string,
  item: Pick<WorkItem, 'event' | 'receiptId' | 'lease'>,
  settlement: Settlement & { now: number },
): Promise<SettleResult> {
  const { outcome, attempts, erasure, note, lastError, now } = settlement;
  const remains = toJson(settlement.remains);
  const row = { ...leaseOf(item), outcome, attempts, erasure, remains, note, lastError, now };
  const [repeated, settled] = await Promise.all([
    session.run(REQUEUE_REPEATED, leaseOf(item)), // which takes the lease, so that nothing is settled
    session.get<{ receipt: number }>(SETTLE, row),
  ]);
  if (!settled) return repeated > 0 ? 'again' : 'lost';
  if (outcome === 'UNMATCHED') await withdrawAll(session, repository, { item, now });
  void session.run(REFRESH_RECEIPT_STATUS, { receipts: [settled.receipt] });
  return 'settled';
}

/** Takes back all claims that no match has confirmed, for an event that names nobody. */
async function withdrawAll(
  session: Tx,
  repository: string,
  { item, now }: { item: Pick<WorkItem, 'event' | 'receiptId'>; now: number },
): Promise<void> {
  const repositoryId = await readRepositoryId(session, repository);
  if (repositoryId === undefined) return;
  const { event, receiptId } = item;
  const numbers = (await provisionalClaims(session, repositoryId, [event])).get(event) ?? [];
  if (numbers.length === 0) return;
  const order = { repositoryId, receiptId, event, numbers };
  await withdraw(session, order, { reason: 'unmatched', now });
  const leadIds = toLeadIds(await claimedBy(session, order));
  void session.run(SET_LEADS, { event, leadIds });
}

/** Takes back claims that are not for good. The audit log says why a lead was out of sight for a while. */
export async function withdraw(
  session: Tx,
  order: ClaimOrder,
  { reason, now }: { reason: string; now: number },
): Promise<void> {
  for (const number of await withdrawClaims(session, order, now))
    await appendAudit(session, {
      at: now,
      actor: { kind: 'system', subject: 'worker' },
      action: 'claim.withdraw',
      subject: `claim/${number}`,
      changes: { receiptId: order.receiptId, reason },
    });
}

/** Tells operators how an event has ended. `issues` are those that something is still to be done about. */
export function reportEnd(
  { reporter }: { reporter: Pick<OutcomeReporter, 'settled'> },
  { receiptId, partnerId, path }: WorkItem,
  { outcome, lastError: code }: Settlement,
  issues: readonly number[] = [],
): void {
  reporter.settled({ receiptId, partnerId, path, outcome, code, issues });
}
