import { type Clock, SECOND } from '#shared/clock.ts';
import { errorFields, type Log } from '#shared/log.ts';
import type { WorkStore } from './work-store.ts';

/** Dropped payloads are taken out of the store's files at most this often. */
const SCRUB_EVERY_MS = SECOND;

/** What a deletion was about must not outlive it in the store's files. */
export type Scrubber = {
  /** A payload was dropped that may still be in the store's files. */
  noteDropped(): void;
  /** Takes what was dropped out of the files when it is time for that. Never throws. */
  scrub(): Promise<void>;
  /** Until the next time at most, in ms; Infinity when nothing was dropped. */
  waitMs(): number;
};

/** Begins as if something was dropped: an earlier process may have died before it could scrub. */
export function createScrubber({
  store,
  clock,
  log,
}: {
  store: Pick<WorkStore, 'scrub'>;
  clock: Pick<Clock, 'monotonicMs'>;
  log: Log;
}): Scrubber {
  let isDirty = true;
  let scrubbedAt = -Infinity;
  return {
    noteDropped: () => {
      isDirty = true;
    },
    scrub: async () => {
      const now = clock.monotonicMs();
      if (!isDirty || now - scrubbedAt < SCRUB_EVERY_MS) return;
      scrubbedAt = now;
      try {
        isDirty = !(await store.scrub());
      } catch (error) {
        log.warn(errorFields(error), 'dropped payloads could not be taken out of the files yet');
      }
    },
    waitMs: () => (isDirty ? SCRUB_EVERY_MS : Infinity),
  };
}
