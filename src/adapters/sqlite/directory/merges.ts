import type { Database as Handle } from 'better-sqlite3';
import { MERGES_MAX } from '#partners/receipts/receipt-store.ts';
import type { NewEvent } from '#partners/receipts/receipt-store.ts';

const INSERT = 'INSERT OR IGNORE INTO directory_merge (fromHash, toHash) VALUES (?, ?)';

const FORGET_OLDEST = `
  DELETE FROM directory_merge WHERE id <= (SELECT max(id) FROM directory_merge) - ${MERGES_MAX}`;

/** Keeps what events say of merged people, inside the caller's transaction. */
export function createMergeWriter(handle: Handle): (events: readonly NewEvent[]) => void {
  const insert = handle.prepare<[Buffer, Buffer]>(INSERT);
  const forgetOldest = handle.prepare<[]>(FORGET_OLDEST);
  return (events) => {
    const merges = events.flatMap(({ merge }) => merge ?? []);
    for (const { from, to } of merges) for (const hash of from) insert.run(hash, to);
    if (merges.length > 0) forgetOldest.run();
  };
}
