import { type ClaimOrder, REPOSITORY_NOT_KNOWN } from '#leads/claims/claim-store.ts';
import { hideClaimed, noteLeads } from '../lead-feed/writes.ts';
import { type Session, toRecords, type Values } from '../session.ts';

/** A claim to be made. */
export type NewClaim = Omit<ClaimOrder, 'numbers'> & { number: number; at: number };

/**
 * The claims of a lead have one `removed_at`. A new one is later than all that are stored, whatever the clock
 * says, because readers ask for removals after the last that they have. An event does not claim again what an
 * operator released from it. Earlier claims are looked up by lead and not by `claim_removal`, which PostgreSQL
 * would read as a whole while its statistics say that the table is empty.
 */
const INSERT = `
  INSERT INTO claim
    (repository_id, number, receipt_id, event, is_provisional, claimed_at, removed_at)
  SELECT repository_id, number, receipt_id, event, true, at,
    coalesce(earlier_removed_at, greatest(max(at) OVER (), (SELECT last_removed_at + 1 FROM claim_version)) - 1
      + dense_rank() OVER (PARTITION BY earlier_removed_at IS NULL ORDER BY first_place))
  FROM (
    SELECT given.*,
      min(place) OVER (PARTITION BY given.repository_id, given.number) AS first_place,
      (SELECT max(removed_at) FILTER (WHERE released_at IS NULL) FROM claim
       WHERE claim.repository_id = given.repository_id AND claim.number = given.number)
        AS earlier_removed_at
    FROM jsonb_to_recordset(@claims)
        AS given (repository_id bigint, number bigint, receipt_id text, event bigint, at bigint, place bigint)
  ) AS found
  ORDER BY place
  ON CONFLICT (repository_id, number, event) DO NOTHING`;

/** Claims leads for their events until a match is certain. */
export async function insertClaims(session: Session, claims: readonly NewClaim[]): Promise<void> {
  if (claims.length === 0) return;
  const placed = claims.map((claim, place) => ({ ...claim, place }));
  await session.run(INSERT, { claims: toRecords(placed) });
  for (const [id, ofRepository] of Map.groupBy(claims, ({ repositoryId }) => repositoryId)) {
    const at = Math.max(...ofRepository.map((claim) => claim.at));
    await hideClaimed(session, { id, numbers: numbersOf(ofRepository), at });
  }
}

/** The claims of one order. */
export function claimsOf({ numbers, ...order }: ClaimOrder, at: number): NewClaim[] {
  return numbers.map((number) => ({ ...order, number, at }));
}

const OF_LEADS = `
  repository_id = @repositoryId AND event = @event AND number = ANY(@numbers::bigint[])`;

const CONFIRM = `UPDATE claim SET is_provisional = false WHERE ${OF_LEADS} AND is_provisional`;

/** Claims leads for good: the match is certain. */
export async function confirmClaims(
  session: Session,
  order: ClaimOrder,
  at: number,
): Promise<void> {
  await insertClaims(session, claimsOf(order, at));
  await session.run(CONFIRM, order);
}

const WITHDRAW = `
  DELETE FROM claim WHERE ${OF_LEADS} AND is_provisional AND released_at IS NULL
  RETURNING number`;

/** Takes back those that are not claimed for good, and answers them. */
export async function withdrawClaims(
  session: Session,
  order: ClaimOrder,
  at: number,
): Promise<number[]> {
  if (order.numbers.length === 0) return [];
  const numbers = numbersOf(await session.all(WITHDRAW, order));
  await noteLeads(session, { id: order.repositoryId, numbers, at });
  return numbers;
}

/** In an order that an index has, SQLite would read every claim of the repository. */
const claimsOfEvent = (also: string): string => `
  SELECT number FROM claim
  WHERE repository_id = /*sqlite +*/@repositoryId AND event = /*sqlite +*/@event
    AND released_at IS NULL ${also}
  ORDER BY /*sqlite +*/number`;

const CLAIMED_BY = claimsOfEvent('');
const PROVISIONAL = claimsOfEvent('AND is_provisional');

type Owner = Pick<ClaimOrder, 'repositoryId' | 'event'>;

/** The leads that the event has claimed until a match is certain. */
export async function provisionalClaims(session: Session, owner: Owner): Promise<number[]> {
  return numbersOf(await session.all(PROVISIONAL, owner));
}

/** The leads of the repository that the event holds, in ascending order. */
export async function claimedBy(session: Session, owner: Owner): Promise<number[]> {
  return numbersOf(await session.all(CLAIMED_BY, owner));
}

/** The leads that an event holds, for `event.lead_ids`. */
export function toLeadIds(numbers: readonly number[]): string | undefined {
  return numbers.length > 0 ? JSON.stringify(numbers.map(String)) : undefined;
}

export function fromLeadIds(leadIds = '[]'): number[] {
  return (JSON.parse(leadIds) as string[]).map(Number);
}

export function numbersOf(rows: readonly { number: number }[]): number[] {
  return rows.map(({ number }) => number);
}

/** Behind all that readers of removals have read by now. */
const NEXT_REMOVAL = 'greatest(@at::bigint, (SELECT last_removed_at + 1 FROM claim_version))';

/** Dates removals anew when more readers may have the leads, who have read the feed past the old dates. */
export const REDATE = `
  UPDATE claim SET removed_at = ${NEXT_REMOVAL}
  WHERE repository_id = @id AND released_at IS NULL AND number = ANY(@numbers::bigint[])`;

/** Gives the repository the claims that were made before its number was known. */
export const ADOPT = `
  UPDATE claim SET repository_id = @id, removed_at = ${NEXT_REMOVAL}
  WHERE repository_id = ${REPOSITORY_NOT_KNOWN} AND NOT EXISTS (
    SELECT 1 FROM claim AS own WHERE own.repository_id = @id
      AND own.number = claim.number AND own.event = claim.event)`;

const NOTE_REMOVALS = `
  UPDATE claim_version SET last_removed_at = greatest(last_removed_at,
    (SELECT max(removed_at) FROM claim WHERE released_at IS NULL))`;

/** Runs `REDATE` or `ADOPT`. */
export async function redateClaims(session: Session, sql: string, values: Values): Promise<void> {
  if ((await session.run(sql, values)) > 0) await session.run(NOTE_REMOVALS);
}
