/** Keeps the lead directory in the background: crawls the tracker when it is time, and has it caught up in between. */
import { type Clock, DAY, MINUTE, SECOND } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import { errorFields, type Log } from '#shared/log.ts';
import { type Alarm, createAlarm } from '#shared/resilience/background.ts';
import { doublingSchedule, retryAfterMsOf, waitMsAfter } from '#shared/resilience/backoff.ts';
import { FEED_READABLE_MS } from '../lead-feed/lead-change.ts';
import type { DirectoryStore } from '../lead-store.ts';
import {
  type Issue,
  type IssuePage,
  type LeadTracker,
  REPLICA_LAG_MAX_MS,
} from '../lead-tracker.ts';
import type { LeadRules } from '../model/lead.ts';
import { readDirectoryState, readUnseen, readUpdatedAt } from './directory-view.ts';
import type { DirectoryEntry, DirectoryState } from './lead-directory.ts';
import {
  completeCrawl,
  noteMoved,
  putCrawled,
  putEntries,
  removeEntry,
  startCrawl,
} from './write-directory.ts';

export type KeeperOptions = {
  /** True when anybody has read the lead feed since `since` (ms since the Unix epoch). */
  isFollowed(since: number): Promise<boolean>;
  /** While somebody follows the lead feed, what no webhook told is in it within this time. */
  feedIntervalMs: number;
  /** True while there are partners, whose events are matched by the directory. */
  hasPartners(): boolean;
  isComplete(): boolean;
  /** Crawls when it is time. */
  crawl(stopping: AbortSignal): Promise<void>;
  catchUp(): Promise<unknown>;
  /** Called after each turn; `code` says why it failed. */
  onEnd(code?: string): void;
  clock: Clock;
  log: Log;
};

const CHECK_EVERY_MS = MINUTE;
const RETRIES = doublingSchedule(10 * SECOND, 5 * MINUTE);
/** Deletions wait for the first crawl. */
const FIRST_CRAWL_RETRIES = doublingSchedule(10 * SECOND, MINUTE);

/**
 * Fills the directory in the background, as long as somebody needs it, and reads what changed for those who follow
 * the lead feed. `start` begins at once, again after `stop`, too.
 */
export function createDirectoryKeeper(options: KeeperOptions): {
  start(): void;
  stop(): Promise<void>;
} {
  const alarm = createAlarm(options.clock);
  let stopping = new AbortController();
  let running: Promise<void> | undefined;
  return {
    start: () => {
      if (stopping.signal.aborted) stopping = new AbortController();
      if (running) alarm.ring();
      else running = run(options, stopping.signal, alarm);
    },
    stop: async () => {
      stopping.abort();
      await running;
      running = undefined;
    },
  };
}

async function run(options: KeeperOptions, stopping: AbortSignal, alarm: Alarm): Promise<void> {
  let failures = 0;
  while (!stopping.aborted) {
    let waitMs = Math.min(options.feedIntervalMs, CHECK_EVERY_MS);
    try {
      await keep(options, stopping);
      failures = 0;
      options.onEnd();
    } catch (error) {
      if (stopping.aborted) return;
      failures += 1;
      const retries = options.isComplete() ? RETRIES : FIRST_CRAWL_RETRIES;
      waitMs = Math.max(retryAfterMsOf(error), waitMsAfter(retries, failures));
      options.onEnd(isTrackportError(error) ? error.code : 'internal-error');
      options.log.warn(errorFields(error), 'the lead directory could not be filled');
    }
    await alarm.wait(waitMs, stopping);
  }
}

async function keep(options: KeeperOptions, stopping: AbortSignal): Promise<void> {
  const isFollowed = (): Promise<boolean> =>
    options.isFollowed(options.clock.now() - FEED_READABLE_MS);
  if (!options.hasPartners() && !(await isFollowed())) return;
  await options.crawl(stopping);
  // A crawl takes its time: somebody may have begun to follow meanwhile.
  if (await isFollowed()) await options.catchUp();
}

const CRAWL_EVERY_MS = DAY;
/** A long crawl says so often that it goes on. */
const LOG_EVERY_MS = 10 * SECOND;

/** A crawl of the tracker, and the directory that it fills. */
export type Crawl = {
  tracker: LeadTracker;
  store: DirectoryStore;
  toEntries: (issues: readonly Issue[]) => Promise<DirectoryEntry[]>;
  budget: CrawlBudget;
  clock: Clock;
  log: Log;
  onProgress: (state: DirectoryState) => unknown;
  rules: Pick<LeadRules, 'deletedLabel'>;
  /** The label of deletions with which all issues were crawled since the process began. */
  crawledWith: { deletedLabel?: string };
};

/**
 * Crawls all issues when it is time: goes on with a crawl that was cut short, or starts the daily one. A start crawls
 * all of them once, for what went while nothing ran, and so does a reload that brings another label of
 * deletions, which hides other leads. The directory must be open.
 * @throws {tracker-failed} @throws {tracker-unavailable} @throws {store-unavailable}
 * @throws the signal's reason when it is aborted; what was read so far stays
 */
export async function crawlWhenDue(crawl: Crawl, signal: AbortSignal): Promise<void> {
  const { store, clock, crawledWith } = crawl;
  const { deletedLabel } = crawl.rules; // as it is when the crawl begins
  const state = await noteProgress(crawl);
  if (state.isCrawling) await crawlAll(crawl, signal);
  if (state.isCrawling && state.reached === 0) crawledWith.deletedLabel = deletedLabel;
  const isDue = clock.now() - state.startedAt >= CRAWL_EVERY_MS;
  if (crawledWith.deletedLabel === deletedLabel && !isDue) return;
  await startCrawl(store, clock.now());
  await crawlAll(crawl, signal);
  crawledWith.deletedLabel = deletedLabel;
}

async function crawlAll(crawl: Crawl, signal: AbortSignal): Promise<void> {
  const { tracker, store, budget, clock, log } = crawl;
  const state = await noteProgress(crawl);
  const logProgress = createProgressLog(crawl);
  logProgress(state);
  await budget.spend(signal);
  const pages = pagesSince(tracker, Math.max(0, state.reached - SECOND));
  for await (const { issues, after } of pages) {
    await putCrawled(store, await crawl.toEntries(issues), newestChange(issues));
    logProgress(await noteProgress(crawl));
    signal.throwIfAborted();
    if (after !== undefined) await budget.spend(signal);
  }
  const removed = await settleUnseen(crawl, signal);
  await completeCrawl(store, clock.now());
  const { issues } = await noteProgress(crawl);
  log.info({ issues, removed }, 'the lead directory is complete');
}

/** A line at the start, then one every ten seconds at most. */
function createProgressLog({ clock, log }: Crawl): (state: DirectoryState) => void {
  let loggedAt = -Infinity;
  return ({ issues }) => {
    const now = clock.monotonicMs();
    if (now - loggedAt < LOG_EVERY_MS) return;
    loggedAt = now;
    log.info({ issues }, 'the lead directory is being filled');
  };
}

async function noteProgress({ store, onProgress }: Crawl): Promise<DirectoryState> {
  const state = await readDirectoryState(store);
  if (!state) throw new Error('the lead directory was not opened');
  onProgress(state);
  return state;
}

/** The greatest `updatedAt`, 0 for no issues. */
export function newestChange(issues: readonly Issue[]): number {
  return issues.reduce((newest, { updatedAt }) => Math.max(newest, updatedAt), 0);
}

/** Keeps a crawl within half of what the tracker's quota had left when the crawl met it. */
type CrawlBudget = {
  /** Resolves when one more call may be made, at the latest after the quota's reset. */
  spend(signal: AbortSignal): Promise<void>;
  /** The credential may be another one: its quota counts anew, and a call that waits looks at it at once. */
  askAgain(): void;
};

export function createCrawlBudget(tracker: LeadTracker, clock: Clock): CrawlBudget {
  const alarm = createAlarm(clock);
  let windowEnd = 0;
  let left = 0;
  return {
    askAgain: () => {
      windowEnd = 0;
      alarm.ring();
    },
    spend: async (signal) => {
      for (;;) {
        const quota = tracker.quota();
        if (!quota || quota.resetAt <= clock.now()) return; // the next response names it
        if (Math.abs(quota.resetAt - windowEnd) > MINUTE) {
          windowEnd = quota.resetAt;
          left = Math.floor(quota.remaining / 2);
        }
        left -= 1;
        if (left >= 0) return;
        await alarm.wait(quota.resetAt - clock.now() + SECOND, signal);
        signal.throwIfAborted();
      }
    },
  };
}

/**
 * Every issue that changed at or after `since`, pull requests too, page by page. The order is
 * longest unchanged first: an issue that changes meanwhile moves ahead and is met again, so that
 * none is missed, and a walk that was cut short goes on from the last change it has seen.
 * @throws {tracker-failed} @throws {tracker-unavailable}
 */
export async function* pagesSince(
  tracker: LeadTracker,
  since: number,
): AsyncGenerator<IssuePage, void> {
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
    yield result.page;
    after = result.page.after;
  } while (after !== undefined);
}

/** A crawl that has read every page. */
type CompleteCrawl = Omit<Crawl, 'tracker' | 'onProgress' | 'rules' | 'crawledWith'> & {
  tracker: Pick<LeadTracker, 'readIssue'>;
};

/**
 * Reads each issue that a full crawl has not met, and returns how many rows were removed. An issue
 * that is gone loses its row. One that moved to another repository keeps it for good, so that its
 * deletion ends with the truth about it. While the tracker fails, rows stay until the next crawl.
 * @throws {store-unavailable} @throws the signal's reason when it is aborted
 */
export async function settleUnseen(crawl: CompleteCrawl, signal: AbortSignal): Promise<number> {
  let removed = 0;
  for (let after: number | undefined = 0; after !== undefined;) {
    const chunk = await readUnseen(crawl.store, after);
    for (const number of chunk.numbers) {
      await crawl.budget.spend(signal);
      signal.throwIfAborted();
      try {
        if (await settleOne(crawl, number, signal)) removed += 1;
      } catch (error) {
        if (!isTrackportError(error) || error.code === 'store-unavailable') throw error;
        crawl.log.warn(errorFields(error), 'what the crawl has not met could not be asked for');
        return removed;
      }
    }
    after = chunk.next;
  }
  return removed;
}

/** True when the row was removed. */
async function settleOne(
  crawl: CompleteCrawl,
  number: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { store, toEntries, tracker } = crawl;
  let result = await tracker.readIssue(number);
  const isCertain = result.kind !== 'absent' || result.isMoved || result.isDeleted === true;
  if (!isCertain && (await waitForReplicas(crawl, number, signal)))
    result = await tracker.readIssue(number);
  if (result.kind === 'unchanged') throw new Error('no validator was sent');
  if (result.kind === 'absent' && result.isMoved) await noteMoved(store, number);
  else if (result.kind === 'changed' && !result.issue.isPullRequest)
    await putEntries(store, await toEntries([result.issue]));
  else {
    await removeEntry(store, number);
    return true;
  }
  return false;
}

/** Waits until each replica of the tracker has heard of an issue that changed a moment ago; false for another. */
async function waitForReplicas(
  { store, clock }: CompleteCrawl,
  number: number,
  signal: AbortSignal,
): Promise<boolean> {
  const ageMs = clock.now() - ((await readUpdatedAt(store, number)) ?? 0);
  if (ageMs >= REPLICA_LAG_MAX_MS) return false;
  await clock.sleep(Math.min(REPLICA_LAG_MAX_MS, REPLICA_LAG_MAX_MS - ageMs), {
    signal,
    unref: true,
  });
  return true;
}
