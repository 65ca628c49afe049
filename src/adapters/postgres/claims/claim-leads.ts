import type { ClaimOrder } from '#leads/claims/claim-order.ts';
import type { Session } from '../connection/database.ts';

/** A claim to be made. */
export type NewClaim = Omit<ClaimOrder, 'numbers'> & { number: number; at: number };

/**
 * The claims of a lead share one instant. A removal comes behind all before it, whatever the clock says:
 * readers have read up to those. What an operator had taken from this very event is not claimed again.
 */
const INSERT = `
  INSERT INTO claim
    (repository_id, number, receipt_id, event, is_provisional, claimed_at, removed_at)
  SELECT repository_id, number, receipt_id, event, true, at,
    coalesce(earlier_removed_at, greatest(max(at) OVER (), last_removed_at + 1) - 1
      + dense_rank() OVER (PARTITION BY earlier_removed_at IS NULL ORDER BY first_place))
  FROM (
    SELECT given.*, version.last_removed_at,
      min(place) OVER (PARTITION BY given.repository_id, given.number) AS first_place,
      (SELECT max(removed_at) FROM claim
       WHERE claim.repository_id = given.repository_id AND claim.number = given.number
         AND released_at IS NULL) AS earlier_removed_at
    FROM unnest(@repositoryIds::bigint[], @numbers::bigint[], @receiptIds::text[],
        @events::bigint[], @ats::bigint[]) WITH ORDINALITY
        AS given (repository_id, number, receipt_id, event, at, place)
      CROSS JOIN claim_version AS version
  ) AS found
  ORDER BY place
  ON CONFLICT (repository_id, number, event) DO NOTHING`;

/** Claims leads for their events until a match is certain. */
export async function insertClaims(session: Session, claims: readonly NewClaim[]): Promise<void> {
  if (claims.length === 0) return;
  await session.run(INSERT, {
    repositoryIds: claims.map(({ repositoryId }) => repositoryId),
    numbers: claims.map(({ number }) => number),
    receiptIds: claims.map(({ receiptId }) => receiptId),
    events: claims.map(({ event }) => event),
    ats: claims.map(({ at }) => at),
  });
}

/** The claims of one order. */
export function claimsOf({ numbers, ...order }: ClaimOrder, at: number): NewClaim[] {
  return numbers.map((number) => ({ ...order, number, at }));
}

const OF_LEADS = `
  repository_id = @repositoryId AND event = @event AND number = ANY(@numbers::bigint[])`;

const CONFIRM = `UPDATE claim SET is_provisional = false WHERE ${OF_LEADS} AND is_provisional`;

/** The same for good: the match is certain. */
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
export async function withdrawClaims(session: Session, order: ClaimOrder): Promise<number[]> {
  if (order.numbers.length === 0) return [];
  return numbersOf(await session.all(WITHDRAW, order));
}

const PROVISIONAL = `
  SELECT number FROM claim
  WHERE repository_id = @repositoryId AND event = @event AND is_provisional
    AND released_at IS NULL
  ORDER BY number`;

/** The leads that the event has claimed until a match is certain. */
export async function provisionalClaims(
  session: Session,
  order: Pick<ClaimOrder, 'repositoryId' | 'event'>,
): Promise<number[]> {
  return numbersOf(await session.all(PROVISIONAL, order));
}

const HELD = `
  SELECT number FROM claim
  WHERE repository_id = @repositoryId AND event = @event AND released_at IS NULL
  ORDER BY number`;

/** The leads of the repository that the event holds, in ascending order. */
export async function heldClaims(
  session: Session,
  order: Pick<ClaimOrder, 'repositoryId' | 'event'>,
): Promise<number[]> {
  return numbersOf(await session.all(HELD, order));
}

/** The leads that an event holds, for `event.lead_ids`. */
export function toLeadIds(numbers: readonly number[]): string[] | null {
  return numbers.length > 0 ? numbers.map(String) : null;
}

export function numbersOf(rows: readonly { number: number }[]): number[] {
  return rows.map(({ number }) => number);
}
