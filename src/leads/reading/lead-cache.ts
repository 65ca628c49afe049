import type { Clock } from '#shared/clock.ts';
import type { InstanceChange } from '../instance-changes.ts';
import type { Issue, IssueQuery, LeadTracker, TrackerEvent } from '../lead-tracker.ts';
import { type LeadFilter, matchesFilter } from '../model/lead-query.ts';
import { isApproved, type LeadRules, tellsFields, textLength, toLead } from '../model/lead.ts';
import { createCallPolicy } from './call-policy.ts';
import {
  type CacheResult,
  type ConfirmedCache,
  createConfirmedCache,
  type Entry,
  isTrackerFault,
  type Source,
} from './confirmed-cache.ts';
import { createRecentEvents, lagsBehind, type RecentEvents, supersedes } from './recent-events.ts';
import {
  type CachedLead,
  LEAD_OVERHEAD_BYTES,
  pageConcerns,
  pageKey,
  pageLags,
  toLoadedPage,
  type UpstreamPage,
  withoutBody,
} from './upstream-page.ts';

/** One issue; without `found` it is not there, or not approved. */
type CachedIssue = { number: number; issue?: Issue; found?: CachedLead };

type WholeIssue = Extract<TrackerEvent, { kind: 'issue' }>;

type LeadCacheOptions = {
  clock: Clock;
  tracker: LeadTracker;
  rules: LeadRules;
  freshForMs: number;
  /** Counted from the end of `freshForMs`. */
  staleIfErrorMs: number;
  /** Of all that is cached. */
  bytesMax: number;
  /** An issue was asked for and is not there; if not `isCertain`, it may be that a replica has not heard of it yet. */
  onGone: (number: number, isCertain: boolean) => void;
  /** The tracker has shown these issues anew, pull requests among them. */
  onRead: (issues: readonly Issue[]) => void;
};

/** An approved issue, or that there is none (`found` is absent), and how that is known. */
export type LeadLookUp = { found?: CachedLead; result: CacheResult<unknown> };

/** The tracker's issues, as fresh as promised and with as few calls as possible. */
export type LeadCache = {
  /**
   * An upstream page; `from` is the order's instant (ms) of the last row of the page before it.
   * @throws {tracker-failed} @throws {tracker-unavailable}
   */
  page(query: IssueQuery, from?: number): Promise<CacheResult<UpstreamPage>>;
  /** The page, only when it is fresh. No call. */
  peekPage(query: IssueQuery): Entry<UpstreamPage> | undefined;
  /** Loads a page that will soon be read. Failures are left to whoever reads it. */
  readAhead(query: IssueQuery, from?: number): void;
  /** Looks for one approved issue. */
  lead(number: number): Promise<LeadLookUp>;
  /** The approved issue where that is cached and fresh, else undefined. No call. */
  peekLead(number: number): LeadLookUp | undefined;
  /** Has the issue asked for again where it was asked for before `before` (ms of the monotonic clock): it changed since. */
  invalidate(number: number, before: number): void;
  /** True when no event newer than the row is known. */
  isCurrent(row: CachedLead): boolean;
  /** False when an event newer than the row says that it does not meet the filter any more. */
  stillMatches(row: CachedLead, filter: LeadFilter): boolean;
  /**
   * Takes what the webhook said, to this instance or another. Nothing that it contradicts is served as
   * fresh afterwards. An issue that it brings whole need not be asked for, where nothing as new was heard of it.
   */
  apply(event: TrackerEvent | InstanceChange): void;
  /** The credential may be another one: the next read asks the tracker, whatever it said before. */
  askAgain(): void;
  /** Grows with every event. */
  readonly eventsVersion: number;
  /** Time for which a response stays fresh now. */
  readonly freshForMs: number;
  /** Estimated bytes in use. */
  readonly bytes: number;
};

const ISSUES_SHARE = 0.2;

/** The tracker, read by the rules of leads, and the events that came from it. */
type Upstream = Pick<LeadCacheOptions, 'tracker' | 'rules' | 'onGone' | 'onRead'> & {
  events: RecentEvents;
};

export function createLeadCache(options: LeadCacheOptions): LeadCache {
  const { clock, tracker, rules, onGone, onRead } = options;
  const events = createRecentEvents(clock, options.freshForMs + options.staleIfErrorMs);
  const upstream: Upstream = { tracker, rules, events, onGone, onRead };
  const caches = createCaches(options);
  const { pages, issues, rowIn, peekLead } = caches;
  const page: LeadCache['page'] = (query, from) => pages.get(pageSource(upstream, query, from));

  return {
    page,
    peekPage: (query) => pages.peek(pageKey(query)),
    readAhead: (query, from) => {
      page(query, from).catch(() => undefined);
    },
    peekLead,
    lead: async (number) => {
      const fresh = peekLead(number);
      if (fresh) return fresh;
      const own = await issues.get(issueSource(upstream, number)).catch(orFault);
      const last =
        own instanceof Error || own.outcome === 'stale'
          ? rowIn(number, (key) => pages.lastGood(key))
          : undefined;
      if (last && (own instanceof Error || own.entry.confirmedAt < last.entry.confirmedAt))
        return { found: last.row, result: { entry: last.entry, outcome: 'stale' } };
      if (own instanceof Error) throw own;
      return fromIssue(own);
    },
    invalidate: (number, before) => {
      pages.invalidate(({ leads }) => leads.has(number), before);
      issues.invalidateKey(issueKey(number), before);
    },
    isCurrent: ({ issue }) => !supersedes(events.of(issue.number), issue),
    stillMatches: (row, filter) => {
      const event = events.of(row.issue.number);
      if (!supersedes(event, row.issue)) return true;
      return !event.isGone && matchesFilter(event.issue, filter);
    },
    apply: (event) => take(upstream, caches, event),
    askAgain: () => caches.calls.askAgain(),
    get eventsVersion() {
      return events.version;
    },
    get freshForMs() {
      return pages.freshForMs;
    },
    get bytes() {
      return pages.bytes + issues.bytes;
    },
  };
}

function take(
  { events, rules }: Upstream,
  { pages, issues, isKnown }: ReturnType<typeof createCaches>,
  event: TrackerEvent | InstanceChange,
): void {
  const isUsable = isWhole(event) && tellsFields(event.issue, rules) && !isKnown(event.issue);
  const whole = isUsable ? event.issue : undefined;
  const heldAt = whole && events.heldAt(whole);
  const change = events.take(event);
  if (change === 'nothing') return;
  pages.invalidate((value) => change === 'everything' || pageConcerns(value, change));
  if (change === 'everything') return issues.invalidate(() => true);
  const key = issueKey(change.issue.number);
  issues.invalidateKey(key);
  if (whole && heldAt !== undefined) issues.put(key, toCachedIssue(whole, rules), heldAt);
}

function fromIssue(result: CacheResult<CachedIssue>): LeadLookUp {
  const { found } = result.entry.value;
  return { found, result };
}

function createCaches(options: LeadCacheOptions) {
  const { clock, tracker, freshForMs, staleIfErrorMs, bytesMax } = options;
  const calls = createCallPolicy({ clock, quota: () => tracker.quota() });
  const index = createPageIndex();
  const common = { clock, calls, freshForMs, staleIfErrorMs };
  const pages = createConfirmedCache<UpstreamPage>({
    ...common,
    bytesMax: Math.floor(bytesMax * (1 - ISSUES_SHARE)),
    sizeOf: (page) => page.bytes,
    onStore: index.add,
    onDrop: index.remove,
  });
  const issues = createConfirmedCache<CachedIssue>({
    ...common,
    bytesMax: Math.floor(bytesMax * ISSUES_SHARE),
    sizeOf: ({ found }) => LEAD_OVERHEAD_BYTES + (found ? textLength(found.lead) : 0) * 2,
  });
  const rowIn = (
    number: number,
    look: ConfirmedCache<UpstreamPage>['peek'],
  ): FoundRow | undefined => newestRow(number, index.keysOf(number), look);
  /** A page that was read since may be of a replica that lags behind what was told of the issue. */
  const peekLead: LeadCache['peekLead'] = (number) => {
    const fresh = rowIn(number, (key) => pages.peek(key));
    const own = issues.peek(issueKey(number));
    if (fresh && !(own && updatedAtOf(own.value) > fresh.row.issue.updatedAt))
      return { found: fresh.row, result: { entry: fresh.entry, outcome: 'hit' } };
    return own && fromIssue({ entry: own, outcome: 'hit' });
  };
  /** True when a state as new was shown already. */
  const isKnown = ({ number, updatedAt }: Issue): boolean => {
    const row = rowIn(number, (key) => pages.lastGood(key))?.row;
    const own = issues.lastGood(issueKey(number));
    const shown = [row ? row.issue.updatedAt : 0, own ? updatedAtOf(own.value) : 0];
    return Math.max(...shown) >= updatedAt;
  };
  return { calls, pages, issues, rowIn, peekLead, isKnown };
}

const NO_KEYS: ReadonlySet<string> = new Set();

/** Finds the cached pages that hold an issue. */
function createPageIndex() {
  const keys = new Map<number, Set<string>>();
  return {
    add: (key: string, page: UpstreamPage): void => {
      for (const number of page.leads.keys()) {
        const own = keys.get(number);
        if (own) own.add(key);
        else keys.set(number, new Set([key]));
      }
    },
    remove: (key: string, page: UpstreamPage): void => {
      for (const number of page.leads.keys()) {
        const own = keys.get(number);
        own?.delete(key);
        if (own?.size === 0) keys.delete(number);
      }
    },
    keysOf: (number: number): ReadonlySet<string> => keys.get(number) ?? NO_KEYS,
  };
}

function pageSource(
  { tracker, rules, events, onRead }: Upstream,
  query: IssueQuery,
  from: number | undefined,
): Source<UpstreamPage> {
  return {
    key: pageKey(query),
    load: async (cached) => {
      const result = await tracker.listIssues(query, cached?.validator);
      if (result.kind === 'changed') onRead(result.page.issues);
      return toLoadedPage(result, { query, from, cached, rules });
    },
    isLagging: (page) =>
      events.hasForgotten() || events.someAhead((event) => pageLags(page, event)),
  };
}

function issueSource(
  { tracker, rules, events, onGone, onRead }: Upstream,
  number: number,
): Source<CachedIssue> {
  return {
    key: issueKey(number),
    load: async (cached) => {
      const result = await tracker.readIssue(number, cached?.validator);
      if (result.kind === 'unchanged' && cached) return cached;
      if (result.kind !== 'changed') {
        const isCertain = result.kind === 'absent' && (result.isMoved || result.isDeleted === true);
        if (isCertain || !events.aheadOf(number)) onGone(number, isCertain);
        return { value: { number } };
      }
      onRead([result.issue]);
      return { value: toCachedIssue(result.issue, rules), validator: result.validator };
    },
    isLagging: ({ issue }) => {
      const event = events.aheadOf(number);
      if (!event) return events.hasForgotten();
      return issue ? lagsBehind(issue, event) : !event.isGone;
    },
  };
}

function toCachedIssue(read: Issue, rules: LeadRules): CachedIssue {
  const issue = withoutBody(read);
  const found = isApproved(issue, rules) && { issue, lead: toLead(read, rules) };
  return { number: issue.number, issue, ...(found && { found }) };
}

/** True when the event brings the issue as the tracker has it. */
function isWhole(event: TrackerEvent | InstanceChange): event is WholeIssue {
  return event.kind === 'issue' && !event.isGone && 'body' in event.issue;
}

function updatedAtOf({ issue }: CachedIssue): number {
  return issue?.updatedAt ?? 0;
}

function issueKey(number: number): string {
  return String(number);
}

type FoundRow = { row: CachedLead; entry: Entry<UpstreamPage> };

/** The row of the page that was confirmed last, among those that `look` still finds. */
function newestRow(
  number: number,
  keys: ReadonlySet<string>,
  look: ConfirmedCache<UpstreamPage>['peek'],
): FoundRow | undefined {
  let newest: Entry<UpstreamPage> | undefined;
  for (const key of keys) {
    const entry = look(key);
    if (entry && entry.confirmedAt > (newest?.confirmedAt ?? -Infinity)) newest = entry;
  }
  const row = newest?.value.leads.get(number);
  return newest && row && { row, entry: newest };
}

/** The error when a last good value may stand in for it; others are thrown on. */
function orFault(error: unknown): Error {
  if (error instanceof Error && isTrackerFault(error)) return error;
  throw error;
}
