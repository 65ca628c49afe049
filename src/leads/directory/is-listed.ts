import { SECOND } from '#shared/clock.ts';
import type { LeadDirectory } from './lead-directory.ts';
import type { LeadTracker } from '../lead-tracker.ts';

export type IsListedDeps = {
  tracker: Pick<LeadTracker, 'listIssues'>;
  directory: Pick<LeadDirectory, 'updatedAt'>;
  /** `DirectoryFiller` has it. */
  catchUp: () => Promise<{ isComplete: boolean }>;
};

/**
 * Whether the tracker's list shows the issue, for one that the tracker does not find by its number.
 * After a catch-up the directory knows when the list showed it last, and there it still stands, or
 * nowhere. Undefined: the first crawl is not complete and has not come by the issue.
 * @throws {tracker-failed} @throws {tracker-unavailable} @throws {store-unavailable}
 */
export async function isListed(
  { tracker, directory, catchUp }: IsListedDeps,
  number: number,
): Promise<boolean | undefined> {
  const { isComplete } = await catchUp();
  const since = await directory.updatedAt(number);
  if (since === undefined) return isComplete ? false : undefined;
  const query = { state: 'all', labels: [], order: 'updated-asc', since } as const;
  let after: string | undefined;
  do {
    const result = await tracker.listIssues({ ...query, after });
    if (result.kind === 'unchanged') throw new Error('no validator was sent');
    const { issues } = result.page;
    if (issues.some((issue) => issue.number === number)) return true;
    // Ties may fill a page; the tracker counts whole seconds.
    const isBeyond = issues.some(({ updatedAt }) => updatedAt > since + SECOND);
    after = isBeyond ? undefined : result.page.after;
  } while (after !== undefined);
  return false;
}
