import { isTrackportError } from '#shared/errors.ts';
import { errorFields, type Log } from '#shared/log.ts';
import type { CrawlBudget } from './crawl-budget.ts';
import type { DirectoryEntry, LeadDirectory } from './lead-directory.ts';
import type { Issue, LeadTracker } from '../lead-tracker.ts';

export type SettleUnseenDeps = {
  tracker: Pick<LeadTracker, 'readIssue'>;
  directory: Pick<LeadDirectory, 'unseen' | 'put' | 'remove' | 'noteMoved'>;
  toEntries: (issues: readonly Issue[]) => Promise<DirectoryEntry[]>;
  budget: CrawlBudget;
  log: Log;
};

/**
 * Reads each issue that a full crawl has not met, and returns how many rows were removed. An issue
 * that is gone loses its row. One that moved to another repository keeps it for good, so that its
 * deletion ends with the truth about it. While the tracker fails, rows stay until the next crawl.
 * @throws {store-unavailable} @throws the signal's reason when it is aborted
 */
export async function settleUnseen(deps: SettleUnseenDeps, signal: AbortSignal): Promise<number> {
  let removed = 0;
  for (let after: number | undefined = 0; after !== undefined;) {
    const chunk = await deps.directory.unseen(after);
    for (const number of chunk.numbers) {
      await deps.budget.spend(signal);
      signal.throwIfAborted();
      try {
        if (await settleOne(deps, number)) removed += 1;
      } catch (error) {
        if (!isTrackportError(error) || error.code === 'store-unavailable') throw error;
        deps.log.warn(errorFields(error), 'what the crawl has not met could not be asked for');
        return removed;
      }
    }
    after = chunk.next;
  }
  return removed;
}

/** True when the row was removed. */
async function settleOne(
  { directory, toEntries, tracker }: SettleUnseenDeps,
  number: number,
): Promise<boolean> {
  const result = await tracker.readIssue(number);
  if (result.kind === 'unchanged') throw new Error('no validator was sent');
  if (result.kind === 'absent' && result.isMoved) await directory.noteMoved(number);
  else if (result.kind === 'changed' && !result.issue.isPullRequest)
    await directory.put(await toEntries([result.issue]));
  else {
    await directory.remove(number);
    return true;
  }
  return false;
}
