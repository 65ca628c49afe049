/** End of an event, written down in the transaction of whoever ends it. */
import { claimedBy, claimsHeld, toLeadIds, withdrawClaims } from '#leads/claims/claim-leads.ts';
import { readRepositoryId, type StoredRepositoryName } from '#leads/lead-store.ts';
import { send, type Tx } from '#shared/database.ts';
import { toJson } from '#shared/sql.ts';
import type {
  Erasure,
  EventErrorCode,
  EventNote,
  Outcome,
  Remainder,
} from '../receipts/receipt.ts';
import { REFRESH_RECEIPT_STATUS, REQUEUE_REPEATED, SET_LEADS } from '../receipts/event-changes.ts';
import { IS_MINE, leaseOf } from './lease-events.ts';
import type { WorkItem } from './work-item.ts';

/** End of an event. */
export type Settlement = {
  outcome: Extract<Outcome, 'DONE' | 'UNMATCHED' | 'IGNORED' | 'FAILED'>;
  erasure?: Erasure;
  remains?: readonly Remainder[];
  /** Replaces the one that the event has; without it that one stays. */
  note?: EventNote;
  lastError?: EventErrorCode;
  /** The one that succeeded among them. */
  attempts: number;
};

/** With these an event needs its payload no more; the others can be replayed for 30 days. */
const WITHOUT_PAYLOAD = ['DONE', 'IGNORED'];

const SETTLE = `
  UPDATE event SET outcome = @outcome::text, erasure = @erasure, remains = @remains, note = coalesce(@note, note),
    attempts = @attempts, last_error = @lastError, completed_at = @now, due_at = NULL,
    lease_token = NULL, lease_until = NULL, progress = NULL,
    payload = CASE WHEN @outcome::text IN ('${WITHOUT_PAYLOAD.join("', '")}') THEN NULL ELSE payload END
  WHERE ${IS_MINE}
  RETURNING receipt`;

/**
 * Ends the event; with DONE or IGNORED its payload is dropped, and with UNMATCHED every claim that no match has
 * confirmed is taken back. One that came once more meanwhile is queued instead.
 *
 * - `settled`: it has ended, which the caller reports;
 * - `again`: it is due at once and is matched anew, so that there is nothing to report;
 * - `lost`: another worker has it, and the caller leaves it alone.
 */
export async function settle(
  tx: Tx,
  repository: StoredRepositoryName,
  item: Pick<WorkItem, 'event' | 'receiptId' | 'leaseToken'>,
  settlement: Settlement & { now: number },
): Promise<'settled' | 'again' | 'lost'> {
  const { outcome, attempts, erasure, note, lastError, now } = settlement;
  const remains = toJson(settlement.remains);
  const row = { ...leaseOf(item), outcome, attempts, erasure, remains, note, lastError, now };
  const repeated = tx.run(REQUEUE_REPEATED, leaseOf(item)); // ends the lease, so that SETTLE changes nothing
  const settled = await tx.get<{ receipt: number }>(SETTLE, row);
  if (!settled) return (await repeated) > 0 ? 'again' : 'lost';
  if (outcome === 'UNMATCHED') await withdrawAll(tx, repository, { item, now });
  send(tx, REFRESH_RECEIPT_STATUS, { receipts: [settled.receipt] });
  return 'settled';
}

/** Takes back all claims that no match has confirmed, for an event that names nobody. */
async function withdrawAll(
  tx: Tx,
  repository: StoredRepositoryName,
  { item, now }: { item: Pick<WorkItem, 'event' | 'receiptId'>; now: number },
): Promise<void> {
  const repositoryId = await readRepositoryId(tx, repository);
  if (repositoryId === undefined) return;
  const { event, receiptId } = item;
  const held = await claimsHeld(tx, { repositoryId, events: [event], isProvisional: true });
  const numbers = held.get(event) ?? [];
  if (numbers.length === 0) return;
  const order = { repositoryId, receiptId, event, numbers };
  await withdrawClaims(tx, order, { reason: 'unmatched', now });
  const leadIds = toLeadIds(await claimedBy(tx, order));
  send(tx, SET_LEADS, { event, leadIds });
}

/** True for an end with which `settle` drops the payload. */
export function dropsPayload(outcome: Outcome): boolean {
  return WITHOUT_PAYLOAD.includes(outcome);
}

/** An end as operators are told of it. */
export function toReported(
  { receiptId, partnerId, path }: WorkItem,
  { outcome, lastError: code }: Settlement,
) {
  return { receiptId, partnerId, path, outcome, code };
}
