import type { IssuePage, LeadTracker } from '../lead-tracker.ts';

/**
 * Reads every issue that changed at or after `since`, pull requests too, page by page. The order is
 * longest unchanged first: an issue that changes meanwhile moves ahead and is met again, so that
 * none is missed, and a walk that was cut short goes on from the last change it has seen.
 * @throws {tracker-failed} @throws {tracker-unavailable} @throws whatever `store` throws
 */
export async function walkChanges(
  tracker: LeadTracker,
  since: number,
  store: (page: IssuePage) => Promise<void>,
): Promise<void> {
  const query = {
    state: 'all',
    labels: [],
    order: 'updated-asc',
    ...(since > 0 && { since }),
  } as const;
  let after: string | undefined;
  do {
    const result = await tracker.listIssues({ ...query, after });
    if (result.kind === 'unchanged') throw new Error('no validator was sent');
    await store(result.page);
    after = result.page.after;
  } while (after !== undefined);
}
