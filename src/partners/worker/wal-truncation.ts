import { type Clock, SECOND } from '#shared/clock.ts';
import type { Database } from '#shared/database.ts';
import { errorFields, type Log } from '#shared/log.ts';

/** Dropped payloads are taken out of the store's files at most this often. */
const EVERY_MS = SECOND;

/** Takes payloads out of the store's files, where the data of a deletion must not outlive it. */
export type WalTruncation = {
  /** A payload was dropped that may still be in the store's files. */
  noteDropped(): void;
  /** Takes what was dropped out of the files when it is time for that. Never throws. */
  run(): Promise<void>;
  /** Until the next time at most, in ms; Infinity when nothing was dropped. */
  waitMs(): number;
};

/** Begins as if something was dropped: an earlier process may have died before it could do it. */
export function createWalTruncation({
  db,
  clock,
  log,
}: {
  db: Pick<Database, 'truncateWal'>;
  clock: Pick<Clock, 'monotonicMs'>;
  log: Log;
}): WalTruncation {
  let isDirty = true;
  let truncatedAt = -Infinity;
  return {
    noteDropped: () => {
      isDirty = true;
    },
    run: async () => {
      const now = clock.monotonicMs();
      if (!isDirty || now - truncatedAt < EVERY_MS) return;
      truncatedAt = now;
      try {
        isDirty = !(await db.truncateWal());
      } catch (error) {
        log.warn(errorFields(error), 'dropped payloads could not be taken out of the files yet');
      }
    },
    waitMs: () => (isDirty ? EVERY_MS : Infinity),
  };
}
