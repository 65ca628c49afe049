import type { KeyObject } from 'node:crypto';
import { MINUTE, SECOND, type TrackerTime } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import { createNextTurnFlight } from '#shared/resilience/single-flight.ts';
import { isFeedFollowed } from '../lead-feed/followers.ts';
import type { DirectoryStore } from '../lead-store.ts';
import type { Issue, LeadTracker, TrackerEvent } from '../lead-tracker.ts';
import { type LeadRules, mapIssues } from '../model/lead.ts';
import {
  type Crawl,
  crawlWhenDue,
  createCrawlBudget,
  createDirectoryKeeper,
  type KeeperOptions,
  newestChange,
  pagesSince,
} from './crawl-directory.ts';
import { readDirectoryState, readUpdatedAt } from './directory-view.ts';
import { createIncoming } from './incoming.ts';
import { type DirectoryState, rulesCheckOf, toDirectoryEntry } from './lead-directory.ts';
import { adoptRepository, noteMoved, putCaughtUp, putEntries } from './write-directory.ts';

/** A catch-up asks again for this much, for issues that became visible late. */
const OVERLAP_MS = MINUTE;
/** While the first crawl runs, a catch-up starts this long before it, in case our clock is ahead. */
const CRAWL_OVERLAP_MS = 5 * MINUTE;
/** The repository's number is confirmed this often, and after every tracker event about it. */
const IDENTIFY_EVERY_MS = 10 * MINUTE;

type FillerOptions = {
  tracker: LeadTracker;
  store: DirectoryStore;
  /** The number of the configured repository. @throws {tracker-unavailable} */
  identifyRepository(): Promise<number>;
  rules: LeadRules;
  /** The sub-key for directory hashes. */
  key: KeyObject;
  feedIntervalMs: KeeperOptions['feedIntervalMs'];
  hasPartners: KeeperOptions['hasPartners'];
  clock: TrackerTime;
  log: Log;
};

/** Fullness of the directory, for `/readyz`, metrics and the log. Times: ms since the Unix epoch. */
export type DirectoryStatus = {
  /** `complete`: a first crawl has ended; later ones run in the background. */
  state: 'starting' | 'crawling' | 'complete';
  /** Issues that the running or last crawl has seen. */
  issues: number;
  startedAt?: number;
  /** End of the last complete crawl. */
  completedAt?: number;
  /** Code of the last failure, until something succeeds. */
  lastError?: string;
};

/** The tracker's word on a number. `absent`: no such issue, or not yet. */
export type LearnedLead = 'lead' | 'pull-request' | 'absent';

/** Fills the lead directory and keeps it. */
export type DirectoryFiller = {
  /**
   * Begins the background work: the first crawl, then one a day, as long as somebody needs the directory. Looks for
   * it at once when it has begun. Again after `stop`, too.
   */
  start(): void;
  /** Ends it, and a catch-up in flight; what was read so far stays. */
  stop(): Promise<void>;
  /**
   * Makes sure that the directory and all claims are taken for those of the repository that the
   * configured name means now. Asks the tracker every ten minutes at most.
   * @throws {tracker-failed} @throws {tracker-unavailable} @throws {store-unavailable}
   */
  identify(): Promise<void>;
  /**
   * Reads what changed since the last time, and since `since` (ms) when that is longer ago. A catch-up
   * serves every call that came before it began. `isComplete`: the directory now knows every issue that
   * the tracker shows, so that a missing row means a missing issue.
   * @throws {tracker-failed} @throws {tracker-unavailable} @throws {store-unavailable}
   */
  catchUp(since?: number): Promise<{ isComplete: boolean }>;
  /**
   * Asks the tracker for one issue and takes it in, also before the first crawl has come by it. One
   * that is in another repository now is taken in as such.
   * @throws {tracker-failed} @throws {tracker-unavailable} @throws {store-unavailable}
   */
  learn(number: number): Promise<LearnedLead>;
  /**
   * Catches up, and says whether the tracker's list shows the issue, for one that the tracker does not find by its
   * number. The directory knows when the list showed it last, and there it still stands, or nowhere. Undefined: the
   * first crawl is not complete and has not come by the issue.
   * @throws {tracker-failed} @throws {tracker-unavailable} @throws {store-unavailable}
   */
  isListed(number: number): Promise<boolean | undefined>;
  /** Takes in what the tracker's webhook said, together with what else comes. Never throws. */
  apply(event: TrackerEvent): void;
  /** Takes in what the tracker showed to readers, where that is new. Never throws. */
  takeRead(issues: readonly Issue[]): void;
  /** Resolves when all that was applied or read is in the store. */
  settled(): Promise<void>;
  status(): DirectoryStatus;
  /** Takes the status from the store: for while another instance does the work. @throws {store-unavailable} */
  readStatus(): Promise<void>;
};

/** The directory while it is filled. */
type Filling = FillerOptions &
  Crawl & {
    identify: Identify;
    isComplete: () => boolean;
    stopping: AbortSignal;
  };
type Identify = { run(): Promise<void>; forget(): void };

export function createDirectoryFiller(options: FillerOptions): DirectoryFiller {
  let stopping = new AbortController();
  let status: DirectoryStatus = { state: 'starting', issues: 0 };
  const filling: Filling = {
    ...options,
    toEntries: entriesBy(options),
    budget: createCrawlBudget(options.tracker, options.clock),
    identify: createIdentify(options),
    isComplete: () => status.state === 'complete',
    get stopping() {
      return stopping.signal;
    },
    onProgress: (state) => (status = toStatus(state)),
    crawledWith: {},
  };
  const incoming = createIncoming({ ...filling, learn: (number) => learn(filling, number) });
  const catchUps = createCatchUps(filling);
  const keeper = createDirectoryKeeper({
    ...options,
    isFollowed: (since) => isFeedFollowed(options.store.db, since),
    isComplete: filling.isComplete,
    crawl: async (signal) => {
      await filling.identify.run();
      await crawlWhenDue(filling, signal);
    },
    catchUp: catchUps.since,
    onEnd: (code) => {
      const { lastError: _former, ...rest } = status;
      status = code === undefined ? rest : { ...rest, lastError: code };
    },
  });
  return {
    start: () => {
      if (stopping.signal.aborted) stopping = new AbortController();
      filling.budget.askAgain();
      keeper.start();
    },
    stop: async () => {
      stopping.abort();
      delete filling.crawledWith.deletedLabel;
      await Promise.allSettled([keeper.stop(), catchUps.settled(), incoming.stop()]);
    },
    identify: () => filling.identify.run(),
    catchUp: catchUps.since,
    learn: (number) => learn(filling, number),
    isListed: async (number) => isListed(options, number, await catchUps.since()),
    apply: (event) => incoming.apply(event),
    takeRead: (issues) => incoming.takeRead(issues),
    settled: () => incoming.settled(),
    status: () => status,
    readStatus: async () => {
      const state = await readDirectoryState(options.store);
      if (state) status = toStatus(state);
    },
  };
}

function entriesBy({ rules, key }: FillerOptions): Crawl['toEntries'] {
  return (issues) =>
    mapIssues(
      issues.filter((issue) => !issue.isPullRequest),
      (issue) => toDirectoryEntry(issue, rules, key),
    );
}

function toStatus(state: DirectoryState): DirectoryStatus {
  return {
    state: state.completedAt === undefined ? 'crawling' : 'complete',
    issues: state.issues,
    startedAt: state.startedAt,
    completedAt: state.completedAt,
  };
}

/** Makes sure, now and then, that the directory belongs to the repository that the name means. */
function createIdentify(options: FillerOptions): Identify {
  let identifiedAt = -Infinity;
  let forgotten = 0;
  return {
    run: async () => {
      const { store, rules, key, clock } = options;
      const at = clock.monotonicMs();
      if (at - identifiedAt < IDENTIFY_EVERY_MS) return;
      const now = clock.now();
      const before = forgotten;
      const id = await options.identifyRepository();
      await adoptRepository(store, id, { rules: rulesCheckOf(rules, key), at: now });
      if (forgotten === before) identifiedAt = at; // else it was asked before that event
    },
    forget: () => {
      forgotten += 1;
      identifiedAt = -Infinity;
    },
  };
}

/** One catch-up serves all that asked for one before it began. */
function createCatchUps(filling: Filling) {
  let wantedSince = Infinity;
  let running: Promise<unknown> | undefined;
  const next = createNextTurnFlight(() => {
    const since = wantedSince;
    wantedSince = Infinity;
    const started = catchUp(filling, since);
    running = started;
    return started;
  });
  return {
    since: (since = Infinity): ReturnType<typeof next> => {
      wantedSince = Math.min(wantedSince, since);
      return next();
    },
    settled: async () => running,
  };
}

async function catchUp(filling: Filling, since: number): Promise<{ isComplete: boolean }> {
  const { store, tracker, identify, stopping } = filling;
  stopping.throwIfAborted();
  await identify.run();
  const state = await readDirectoryState(store);
  if (!state) return { isComplete: false };
  const isFirst = state.completedAt === undefined;
  const usual = isFirst
    ? Math.max(state.startedAt - CRAWL_OVERLAP_MS, state.caughtUpTo - OVERLAP_MS)
    : state.caughtUpTo - OVERLAP_MS;
  const from = Math.min(usual, since - OVERLAP_MS);
  for await (const { issues } of pagesSince(tracker, Math.max(0, from))) {
    await putCaughtUp(store, await filling.toEntries(issues), newestChange(issues));
    stopping.throwIfAborted();
  }
  return { isComplete: !isFirst };
}

const NOTHING_KNOWN = { createdAt: 0, updatedAt: 0, isReadable: false, labels: [], identities: [] };

async function learn(filling: Filling, number: number): Promise<LearnedLead> {
  const { store, tracker, identify } = filling;
  await identify.run();
  const result = await tracker.readIssue(number);
  if (result.kind === 'unchanged') throw new Error('no validator was sent');
  if (result.kind === 'changed') {
    if (result.issue.isPullRequest) return 'pull-request';
    await putEntries(store, await filling.toEntries([result.issue]));
    return 'lead';
  }
  if (!result.isMoved) return 'absent';
  const isKnown = (await readUpdatedAt(store, number)) !== undefined;
  if (!isKnown) await putEntries(store, [{ ...NOTHING_KNOWN, number }]);
  await noteMoved(store, number);
  return 'lead';
}

async function isListed(
  { tracker, store }: FillerOptions,
  number: number,
  { isComplete }: { isComplete: boolean },
): Promise<boolean | undefined> {
  const since = await readUpdatedAt(store, number);
  if (since === undefined) return isComplete ? false : undefined;
  for await (const { issues } of pagesSince(tracker, since)) {
    if (issues.some((issue) => issue.number === number)) return true;
    // Ties may fill a page; the tracker counts whole seconds.
    if (issues.some(({ updatedAt }) => updatedAt > since + SECOND)) return false;
  }
  return false;
}
