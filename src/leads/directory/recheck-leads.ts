import { type Clock, sleepUntilAborted } from '#shared/clock.ts';
import { errorFields, type Log } from '#shared/log.ts';
import { createDrain } from '#shared/resilience/background.ts';
import { type DirectoryStore, NAMED } from '../lead-store.ts';
import { REPLICA_LAG_MAX_MS } from '../lead-tracker.ts';
import type { DirectoryEntry } from './lead-directory.ts';
import { putEntries } from './write-directory.ts';

type RecheckOptions = {
  store: DirectoryStore;
  /** Asks the tracker for an issue, and takes it in. */
  learn: (number: number) => Promise<unknown>;
  clock: Clock;
  log: Log;
};

type Shown = { number: number; updatedAt: number; labels: string };

const SHOWN = `
  SELECT number, updated_at, labels FROM lead_change
  WHERE repository_id = ${NAMED} AND number = ANY(@numbers::bigint[]) AND is_visible`;

/** Of more the next catch-up finds out. */
const RECHECKS_MAX = 200;

/**
 * The tracker dates by whole seconds and its webhooks come in any order: of two states of one second nobody can tell
 * which is newer. Who cannot read a lead any more is told at once; whether that is so the issue itself says, when no
 * replica can lag behind it any more, for while nobody follows the feed nobody else would ask.
 */
export function createRechecks({ store, learn, clock, log }: RecheckOptions) {
  const waiting = new Set<number>();
  const recheck = async (stopping: AbortSignal): Promise<void> => {
    const numbers = [...waiting];
    waiting.clear();
    await sleepUntilAborted(clock, REPLICA_LAG_MAX_MS, stopping);
    for (const number of numbers) {
      if (stopping.aborted) return;
      await learn(number).catch((error: unknown) =>
        log.warn({ issue: number, ...errorFields(error) }, 'an issue could not be looked at again'),
      );
    }
  };
  const drain = createDrain({ hasWork: () => waiting.size > 0, work: recheck });
  return {
    /** Puts what a webhook told. Where that hides a lead, and may be the older state, the tracker is asked later. */
    put: async (entries: readonly DirectoryEntry[]): Promise<void> => {
      const doubtful = await findDoubtful(store, entries);
      await putEntries(store, entries);
      for (const number of doubtful.slice(0, RECHECKS_MAX - waiting.size)) waiting.add(number);
      drain.start();
    },
    /** Gives up what waits. */
    stop: (): Promise<void> => {
      waiting.clear();
      return drain.settled();
    },
  };
}

/** Numbers of leads that somebody can read, and not by the entry, which is of the same second. */
async function findDoubtful(
  { db, repository: name }: DirectoryStore,
  entries: readonly DirectoryEntry[],
): Promise<number[]> {
  const numbers = entries.map((entry) => entry.number);
  const shown = await db.all<Shown>(SHOWN, { name, numbers });
  const byNumber = new Map(shown.map((one) => [one.number, one]));
  return entries
    .filter((entry) => isDoubtful(byNumber.get(entry.number), entry))
    .map(({ number }) => number);
}

function isDoubtful(
  shown: Shown | undefined,
  { updatedAt, isReadable, labels }: DirectoryEntry,
): boolean {
  if (shown?.updatedAt !== updatedAt) return false;
  const before = JSON.parse(shown.labels) as string[];
  return !isReadable || before.some((label) => !labels.includes(label));
}
