import { DAY, SECOND } from '#shared/clock.ts';
import type { Clock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import type { CrawlBudget } from './crawl-budget.ts';
import type { DirectoryEntry, DirectoryState, LeadDirectory } from './lead-directory.ts';
import type { Issue, LeadTracker } from '../lead-tracker.ts';
import { settleUnseen } from './settle-unseen.ts';
import { walkChanges } from './walk-changes.ts';

const CRAWL_EVERY_MS = DAY;

export type CrawlDeps = {
  tracker: LeadTracker;
  directory: LeadDirectory;
  toEntries(issues: readonly Issue[]): Promise<DirectoryEntry[]>;
  budget: CrawlBudget;
  clock: Clock;
  log: Log;
  onProgress: (state: DirectoryState) => void;
};

/**
 * Crawls all issues when it is time: goes on with a crawl that was cut short, or starts the daily
 * one. The directory must be open.
 * @throws {tracker-failed} @throws {tracker-unavailable} @throws {store-unavailable}
 * @throws the signal's reason when it is aborted; what was read so far stays
 */
export async function crawlWhenDue(deps: CrawlDeps, signal: AbortSignal): Promise<void> {
  const { directory, clock } = deps;
  const state = await noteProgress(deps);
  const isDue = clock.now() - state.startedAt >= CRAWL_EVERY_MS;
  if (!state.isCrawling && isDue) await directory.startCrawl(clock.now());
  if (state.isCrawling || isDue) await crawl(deps, signal);
}

async function crawl(deps: CrawlDeps, signal: AbortSignal): Promise<void> {
  const { tracker, directory, clock, log } = deps;
  const state = await noteProgress(deps);
  log.info({ issues: state.issues }, 'the lead directory is being filled');
  await deps.budget.spend(signal);
  await walkChanges(tracker, Math.max(0, state.reached - SECOND), async ({ issues, after }) => {
    await directory.putCrawled(await deps.toEntries(issues), newestChange(issues));
    await noteProgress(deps);
    signal.throwIfAborted();
    if (after !== undefined) await deps.budget.spend(signal);
  });
  const removed = await settleUnseen(deps, signal);
  await directory.completeCrawl(clock.now());
  const { issues } = await noteProgress(deps);
  log.info({ issues, removed }, 'the lead directory is complete');
}

async function noteProgress({ directory, onProgress }: CrawlDeps): Promise<DirectoryState> {
  const state = await directory.state();
  if (!state) throw new Error('the lead directory was not opened');
  onProgress(state);
  return state;
}

/** The greatest `updatedAt`, 0 for no issues. */
export function newestChange(issues: readonly Issue[]): number {
  return issues.reduce((newest, { updatedAt }) => Math.max(newest, updatedAt), 0);
}
