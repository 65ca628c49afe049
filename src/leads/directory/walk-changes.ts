import type { IssuePage, LeadTracker } from '../lead-tracker.ts';

/**
 * Reads every issue that changed at or after `since`, pull requests too, page by page. The order is
 * longest unchanged first: an issue that changes meanwhile moves ahead and is met again, so that
 * none is missed, and a walk that was cut short goes on from the last change it has seen.
 * @throws {tracker-failed} @throws {tracker-unavailable} @throws whatever `keep` throws
 */
export async function walkChanges(
  tracker: LeadTracker,
  since: number,
  keep: (page: IssuePage) => Promise<void>,
): Promise<void> {
  const query = {
    state: 'all',
    labels: [],
    order: 'updated-asc',
    ...(since > 0 && { since }),
  } as const;
  let after: string | undefined;
  do {
    const answer = await tracker.listIssues({ ...query, ...(after !== undefined && { after }) });
    if (answer.kind === 'unchanged') throw new Error('no validator was sent');
    await keep(answer.page);
    after = answer.page.after;
  } while (after !== undefined);
}
