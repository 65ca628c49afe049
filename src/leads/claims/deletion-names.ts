/** Names by which deletions stand: whom they find among what the directory learns is claimed, too. */
import { DAY } from '#shared/clock.ts';
import { send, type Statements, type Tx } from '#shared/database.ts';
import { toRecords } from '#shared/sql.ts';
import type { MatchName } from '../directory/match.ts';
import { REPOSITORY_NOT_KNOWN } from './claim-leads.ts';

const PUT_NAMES = `
  INSERT INTO deletion_name (event, place, repository_id, kind, key_hash, number, crawl, came_at)
  SELECT event, place, @repositoryId::bigint, kind, hash, number,
    coalesce((SELECT crawl FROM directory_state WHERE repository_id = @repositoryId), 0), at
  FROM jsonb_to_recordset(@names)
    AS given (event bigint, place integer, kind text, hash bytea, number bigint, at bigint)`;

/** Has deletions stand that come at `at`. */
export function putDeletionNames(
  tx: Tx,
  repositoryId: number,
  deletions: readonly { event: number; names: readonly MatchName[]; at: number }[],
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

const ADOPT_NAMES = `
  UPDATE deletion_name SET repository_id = @id,
    crawl = coalesce((SELECT crawl FROM directory_state WHERE repository_id = @id), 0)
  WHERE repository_id = ${REPOSITORY_NOT_KNOWN}`;

/** Gives the repository the deletions that came before its number was known: a number means a lead of one alone. */
export async function adoptDeletionNames(tx: Tx, id: number): Promise<void> {
  await tx.run(ADOPT_NAMES, { id });
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
