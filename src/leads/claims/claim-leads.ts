/**
 * Leads that events claim, and the names by which deletions stand: whom those find among what the directory learns is
 * claimed, too.
 */
import { appendAudit } from '#shared/audit.ts';
import { DAY } from '#shared/clock.ts';
import { send, type Statements, type Tx } from '#shared/database.ts';
import { toJson, toRecords } from '#shared/sql.ts';
import type { MatchName } from '../directory/match.ts';
import { hideClaimed, hideKnown, noteLeads, readKnown } from '../lead-feed/stored-changes.ts';
import { numbersOf } from '../lead-store.ts';

/** Leads that one event claims, or gives back, as a store writes them. */
export type ClaimOrder = {
  repositoryId: number;
  receiptId: string;
  /** The store's own number of the event. */
  event: number;
  numbers: readonly number[];
};

/** Stands for the configured repository until the store knows its number. */
export const REPOSITORY_NOT_KNOWN = 0;

/** A claim to be made. */
type NewClaim = Omit<ClaimOrder, 'numbers' | 'repositoryId'> & {
  number: number;
  at: number;
};

/**
 * An event does not claim again what an operator released from it. Instances learn of the claim by the version that
 * the trigger `claim_made` counts up: see `claim-view.ts`.
 */
const INSERT = `
  INSERT INTO claim (repository_id, number, receipt_id, event, is_provisional, claimed_at)
  SELECT @repositoryId::bigint, number, receipt_id, event, true, at
  FROM jsonb_to_recordset(@claims)
    AS given (number bigint, receipt_id text, event bigint, at bigint, place bigint)
  ORDER BY place
  ON CONFLICT (repository_id, number, event) DO NOTHING`;

const RELEASED = `
  SELECT number, event FROM claim
  WHERE event = ANY(@events::bigint[]) AND repository_id = @repositoryId AND released_at IS NOT NULL`;

/**
 * Claims leads of one repository for their events until a match is certain. Reads before it writes, which spares a way
 * to the engine.
 */
export async function insertClaims(
  tx: Tx,
  { repositoryId, claims }: { repositoryId: number; claims: readonly NewClaim[] },
): Promise<void> {
  if (claims.length === 0) return;
  const at = Math.max(...claims.map((claim) => claim.at));
  const hide = { id: repositoryId, numbers: numbersOf(claims), at };
  const events = claims.map(({ event }) => event);
  const [released, known] = await Promise.all([
    tx.all<{ event: number; number: number }>(RELEASED, { repositoryId, events }),
    readKnown(tx, hide),
  ]);
  const made = claims.filter(
    (claim) => !released.some((one) => one.event === claim.event && one.number === claim.number),
  );
  hideKnown(tx, hide, known, numbersOf(made));
  const placed = made.map((claim, place) => ({ ...claim, place }));
  if (made.length > 0) send(tx, INSERT, { repositoryId, claims: toRecords(placed) });
}

/** The claims of one order. */
export function claimsOf(
  { numbers, ...order }: Omit<ClaimOrder, 'repositoryId'>,
  at: number,
): NewClaim[] {
  return numbers.map((number) => ({ ...order, number, at }));
}

const OF_LEADS = `
  repository_id = @repositoryId AND event = @event AND number = ANY(@numbers::bigint[])`;

const CONFIRM = `UPDATE claim SET is_provisional = false WHERE ${OF_LEADS} AND is_provisional`;

/** Has an event hold for good what it has claimed: the match is certain. */
export function confirmClaims(tx: Tx, order: ClaimOrder): void {
  if (order.numbers.length > 0) send(tx, CONFIRM, order);
}

const WITHDRAW = `
  DELETE FROM claim WHERE ${OF_LEADS} AND is_provisional AND released_at IS NULL
  RETURNING number`;

/** Takes back those that are not claimed for good. The audit log says why a lead was out of sight for a while. */
export async function withdrawClaims(
  tx: Tx,
  order: ClaimOrder,
  { reason, now }: { reason: string; now: number },
): Promise<void> {
  if (order.numbers.length === 0) return;
  const numbers = numbersOf(await tx.all(WITHDRAW, order));
  await noteLeads(tx, { id: order.repositoryId, numbers, at: now });
  for (const number of numbers)
    appendAudit(tx, {
      at: now,
      actor: { kind: 'system', subject: 'worker' },
      action: 'claim.withdraw',
      subject: `claim/${number}`,
      changes: { receiptId: order.receiptId, reason },
    });
}

/** In an order that an index has, SQLite would read every claim of the repository. */
const HELD = `
  SELECT event, number FROM claim
  WHERE repository_id = /*sqlite +*/@repositoryId AND event = ANY(@events::bigint[])
    AND released_at IS NULL AND (is_provisional OR NOT @isProvisional::boolean)
  ORDER BY /*sqlite +*/number`;

type Holders = {
  repositoryId: number;
  events: readonly number[];
  /** True: only what they have claimed until a match is certain. */
  isProvisional?: boolean;
};

/** The leads of the repository that each event holds, in ascending order. */
export async function claimsHeld(
  db: Statements,
  { repositoryId, events, isProvisional = false }: Holders,
): Promise<Map<number, number[]>> {
  if (events.length === 0) return new Map();
  const holders = { repositoryId, events, isProvisional };
  const rows = await db.all<{ event: number; number: number }>(HELD, holders);
  const byEvent = Map.groupBy(rows, ({ event }) => event);
  return new Map([...byEvent].map(([event, held]) => [event, numbersOf(held)]));
}

/** The leads of the repository that the event holds, in ascending order. */
export async function claimedBy(
  db: Statements,
  { repositoryId, event }: { repositoryId: number; event: number },
): Promise<number[]> {
  return (await claimsHeld(db, { repositoryId, events: [event] })).get(event) ?? [];
}

/** The leads that an event holds, for `event.lead_ids` of a record. */
export function leadIdsOf(numbers: readonly number[]): string[] | undefined {
  return numbers.length > 0 ? numbers.map(String) : undefined;
}

/** `event.lead_ids` as a parameter. */
export function toLeadIds(numbers: readonly number[]): string | undefined {
  return toJson(leadIdsOf(numbers));
}

export function fromLeadIds(leadIds = '[]'): number[] {
  return (JSON.parse(leadIds) as string[]).map(Number);
}

const PUT_NAMES = `
  INSERT INTO deletion_name (event, place, repository_id, kind, key_hash, number, crawl, came_at)
  SELECT event, place, @repositoryId::bigint, kind, hash, number,
    coalesce((SELECT crawl FROM directory_state WHERE repository_id = @repositoryId), 0), at
  FROM jsonb_to_recordset(@names)
    AS given (event bigint, place integer, kind text, hash bytea, number bigint, at bigint)`;

/** A deletion that came at `at`, with the names by which it stands. */
type StandingDeletion = { event: number; names: readonly MatchName[]; at: number };

/** Has deletions stand from when they came. */
export function putDeletionNames(
  tx: Tx,
  { repositoryId, deletions }: { repositoryId: number; deletions: readonly StandingDeletion[] },
): void {
  const names = deletions.flatMap(({ names: own, ...deletion }) =>
    own.map((name, place) => ({ ...deletion, place, ...name })),
  );
  if (names.length > 0) send(tx, PUT_NAMES, { repositoryId, names: toRecords(names) });
}

const FORGET_NAMES = 'DELETE FROM deletion_name WHERE event = @event';

/** Before a deletion that has come again stands by what is read of it now. */
export async function forgetDeletionNames(tx: Tx, event: number): Promise<void> {
  await tx.run(FORGET_NAMES, { event });
}

const END_STANDING = `
  DELETE FROM deletion_name
  WHERE repository_id = @id AND came_at <= @at::bigint - ${DAY}
    AND crawl < (SELECT crawl FROM directory_state WHERE repository_id = @id)`;

/** At the end of a full crawl: those that came before it began, and a day ago, stand no longer. */
export async function endDeletionNames(
  db: Statements,
  values: { id: number; at: number },
): Promise<void> {
  await db.run(END_STANDING, values);
}

const ADOPT = `
  UPDATE claim SET repository_id = @id
  WHERE repository_id = ${REPOSITORY_NOT_KNOWN} AND NOT EXISTS (
    SELECT 1 FROM claim AS own WHERE own.repository_id = @id
      AND own.number = claim.number AND own.event = claim.event)
  RETURNING number`;

const ADOPT_NAMES = `
  UPDATE deletion_name SET repository_id = @id,
    crawl = coalesce((SELECT crawl FROM directory_state WHERE repository_id = @id), 0)
  WHERE repository_id = ${REPOSITORY_NOT_KNOWN}`;

/**
 * Gives the repository the claims that were made before its number was known, and the deletions that came: a number
 * means a lead of one repository alone.
 */
export async function adoptClaims(tx: Tx, id: number, at: number): Promise<void> {
  const numbers = numbersOf(await tx.all(ADOPT, { id }));
  if (numbers.length > 0) await hideClaimed(tx, { id, numbers, at });
  await tx.run(ADOPT_NAMES, { id });
}
