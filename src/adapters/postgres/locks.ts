import type { Database, Session } from './connection/database.ts';

/** Locks on what the program means and no row stands for; each ends with its transaction. */
const lock = (number: number): string => `SELECT pg_advisory_xact_lock(1953653099, ${number})`;

/** Migrators take turns. */
export const LOCK_FOR_MIGRATION = lock(1);

const LOCK_FOR_CLAIMS = lock(2);

/**
 * A transaction that writes events, claims or the lead directory. Whoever does takes turns with all
 * others: what it reads cannot change before it commits, and removals come into their feed in the
 * order in which they are committed. @throws {store-unavailable}
 */
export function claimTransaction<T>(
  database: Pick<Database, 'transaction'>,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  return database.transaction(work, LOCK_FOR_CLAIMS);
}
