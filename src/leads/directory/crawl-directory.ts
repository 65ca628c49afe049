import { type Clock, DAY, SECOND } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import type { CrawlBudget } from './crawl-budget.ts';
import type { DirectoryEntry, DirectoryState, LeadDirectory } from './lead-directory.ts';
import type { Issue, LeadTracker } from '../lead-tracker.ts';
import { settleUnseen } from './settle-unseen.ts';
import { walkChanges } from './walk-changes.ts';

const CRAWL_EVERY_MS = DAY;
/** A long crawl says so often that it goes on. */
const LOG_EVERY_MS = 10 * SECOND;

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
  const logProgress = createProgressLog(deps);
  logProgress(state);
  await deps.budget.spend(signal);
  await walkChanges(tracker, Math.max(0, state.reached - SECOND), async ({ issues, after }) => {
    await directory.putCrawled(await deps.toEntries(issues), newestChange(issues));
    logProgress(await noteProgress(deps));
    signal.throwIfAborted();
    if (after !== undefined) await deps.budget.spend(signal);
  });
  const removed = await settleUnseen(deps, signal);
  await directory.completeCrawl(clock.now());
  const { issues } = await noteProgress(deps);
  log.info({ issues, removed }, 'the lead directory is complete');
}

/** A line at the start, then one every ten seconds at most. */
function createProgressLog({ clock, log }: CrawlDeps): (state: DirectoryState) => void {
  let loggedAt = -Infinity;
  return ({ issues }) => {
    const now = clock.monotonicMs();
    if (now - loggedAt < LOG_EVERY_MS) return;
    loggedAt = now;
    log.info({ issues }, 'the lead directory is being filled');
  };
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
