import { errorFields, type Log } from '#shared/log.ts';
import { createQueue } from '#shared/resilience/turns.ts';
import { type DirectoryStore, numbersOf } from '../lead-store.ts';
import type { Issue } from '../lead-tracker.ts';
import { readUpdatedAts } from './directory-view.ts';
import type { DirectoryEntry } from './lead-directory.ts';
import { putRead } from './write-directory.ts';

/** Bodies of a page wait until then, and can be long. */
const PAGES_WAITING_MAX = 16;

/**
 * Puts what the directory has not, or not as new: where no webhook tells of a lead, readers see it before the directory
 * does, and would go on seeing it if the tracker were away when its deletion comes.
 */
export function createReadLeads({
  store,
  toEntries,
  log,
}: {
  store: DirectoryStore;
  toEntries: (issues: readonly Issue[]) => Promise<DirectoryEntry[]>;
  log: Log;
}) {
  let waiting = 0;
  const inOrder = createQueue();
  const put = async (issues: readonly Issue[]): Promise<void> => {
    try {
      const known = await readUpdatedAts(store, numbersOf(issues));
      const news = issues.filter((issue) => (known.get(issue.number) ?? -1) < issue.updatedAt);
      const entries = await toEntries(news);
      if (entries.length > 0) await putRead(store, entries);
    } catch (error) {
      log.warn(errorFields(error), 'leads that were read could not be kept');
    } finally {
      waiting -= 1;
    }
  };
  return {
    /** Never waits and never throws. What is too much, or what the store fails, is left to the next catch-up. */
    take: (issues: readonly Issue[]): void => {
      if (waiting >= PAGES_WAITING_MAX) return;
      waiting += 1;
      void inOrder(() => put(issues));
    },
    /** Resolves when all that was taken is in the directory, or given up. */
    settled: (): Promise<void> => inOrder(async () => undefined),
  };
}
