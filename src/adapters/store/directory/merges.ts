import { MERGES_MAX } from '#partners/receipts/kept.ts';
import type { NewEvent } from '#partners/receipts/receipt-store.ts';
import { toRecords } from '../session.ts';
import type { Session } from '../session.ts';

/** Those that are known take no number: by numbers the oldest are forgotten. */
const INSERT = `
  INSERT INTO directory_merge (from_hash, to_hash)
  SELECT DISTINCT given.from_hash, given.to_hash
  FROM jsonb_to_recordset(@pairs) AS given (from_hash bytea, to_hash bytea)
  WHERE NOT EXISTS (SELECT 1 FROM directory_merge AS known
    WHERE known.to_hash = given.to_hash AND known.from_hash = given.from_hash)`;

const FORGET_OLDEST = `
  DELETE FROM directory_merge WHERE id <= (SELECT max(id) FROM directory_merge) - ${MERGES_MAX}`;

/** Keeps what events say of merged people. */
export async function insertMerges(session: Session, events: readonly NewEvent[]): Promise<void> {
  const pairs = events.flatMap(({ merge }) =>
    merge ? merge.from.map((fromHash) => ({ fromHash, toHash: merge.to })) : [],
  );
  if (pairs.length === 0) return;
  await session.run(INSERT, { pairs: toRecords(pairs) });
  await session.run(FORGET_OLDEST);
}
