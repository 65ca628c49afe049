import type { Tx } from '#shared/database.ts';
import { toRecords } from '#shared/sql.ts';
import type { NewEvent } from './receipt-store.ts';

/** The last merges of people that are kept, for as long as the directory's hashes are good. */
const MERGES_MAX = 1_000_000;

/** Only new ones: each row uses a number up, and by numbers the oldest are forgotten. */
const INSERT = `
  INSERT INTO directory_merge (from_hash, to_hash)
  SELECT DISTINCT given.from_hash, given.to_hash
  FROM jsonb_to_recordset(@pairs) AS given (from_hash bytea, to_hash bytea)
  WHERE NOT EXISTS (SELECT 1 FROM directory_merge AS known
    WHERE known.to_hash = given.to_hash AND known.from_hash = given.from_hash)`;

const FORGET_OLDEST = `
  DELETE FROM directory_merge WHERE id <= (SELECT max(id) FROM directory_merge) - ${MERGES_MAX}`;

/** Keeps what events say of merged people. */
export async function insertMerges(session: Tx, events: readonly NewEvent[]): Promise<void> {
  const pairs = events.flatMap(({ merge }) =>
    merge ? merge.from.map((fromHash) => ({ fromHash, toHash: merge.to })) : [],
  );
  if (pairs.length === 0) return;
  await session.run(INSERT, { pairs: toRecords(pairs) });
  await session.run(FORGET_OLDEST);
}
