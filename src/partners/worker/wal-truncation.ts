import { type Clock, SECOND } from '#shared/clock.ts';
import { errorFields, type Log } from '#shared/log.ts';
import type { WorkStore } from './work-store.ts';

/** Dropped payloads are taken out of the store's files at most this often. */
const EVERY_MS = SECOND;

/** What a deletion was about must not outlive it in the store's files. */
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
  store,
  clock,
  log,
}: {
  store: Pick<WorkStore, 'truncateWal'>;
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
        isDirty = !(await store.truncateWal());
      } catch (error) {
        log.warn(errorFields(error), 'dropped payloads could not be taken out of the files yet');
      }
    },
    waitMs: () => (isDirty ? EVERY_MS : Infinity),
  };
}
