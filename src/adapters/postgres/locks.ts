/** Locks on what the program means and no row stands for; each ends with its transaction. */
const lock = (number: number): string => `SELECT pg_advisory_xact_lock(1953653099, ${number})`;

/** Migrators take turns. */
export const LOCK_FOR_MIGRATION = lock(1);

/** Whoever writes events, claims or the lead directory: `StoreDatabase.writer.callInTurn`. */
export const LOCK_FOR_CLAIMS = lock(2);
