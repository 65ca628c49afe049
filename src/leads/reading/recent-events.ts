import { LRUCache } from 'lru-cache';
import { atMostEntries } from '#shared/caching.ts';
import type { Clock } from '#shared/clock.ts';
import { foldLabels } from '#shared/text/labels.ts';
import type { InstanceChange } from '../instance-changes.ts';
import {
  type Issue,
  type ListedIssue,
  REPLICA_LAG_MAX_MS,
  type TrackerEvent,
} from '../lead-tracker.ts';

/**
 * The webhook's last event of one issue: nothing of its people, and no text but the title, which is
 * missing when another instance told.
 */
export type IssueEvent = {
  issue: ListedIssue & { title?: string };
  isGone: boolean;
};

/**
 * Recent events, remembered for two uses. The webhook is faster than the tracker's replicas, so a response
 * fetched right after an event can be older than the event. And while the tracker fails, last good
 * values are served that events have long refuted.
 */
export type RecentEvents = {
  /** Stores what counts of the event, and returns what it concerns. In constant time. */
  take(event: TrackerEvent | InstanceChange): IssueEvent | 'everything' | 'nothing';
  /** The newest event of this issue that is still remembered. */
  of(number: number): IssueEvent | undefined;
  /** The newest event, when it is so new that a replica may not have it yet. */
  aheadOf(number: number): IssueEvent | undefined;
  /**
   * Time at which the issue was as it is told now, in ms of the monotonic clock. Undefined where a state as new may
   * have been told, here or to another instance, or labels have changed without a word of the issue.
   */
  heldAt(issue: ListedIssue): number | undefined;
  /** True when `isAhead` says so of an event that a replica may not have yet. */
  someAhead(isAhead: (event: IssueEvent) => boolean): boolean;
  /** True while more events came lately than are remembered: any response may be older than one. */
  hasForgotten(): boolean;
  /** Grows with every event. */
  readonly version: number;
};

const EVENTS_MAX = 20_000;
/** Sets of labels, each stored once for all issues that carry it. */
const LABEL_SETS_MAX = 1000;

/** `retentionMs`: the age up to which a response older than an event may be served. */
export function createRecentEvents(clock: Clock, retentionMs: number): RecentEvents {
  const isRecent = (at: number): boolean => clock.monotonicMs() - at < REPLICA_LAG_MAX_MS;
  let forgottenAt = -Infinity;
  let heardAllSince = clock.monotonicMs();
  /** In the order of arrival (`at`, on the monotonic clock): whoever looks moves nothing. */
  const events = new LRUCache<number, IssueEvent & { at: number }>({
    ...atMostEntries(EVENTS_MAX),
    ttl: Math.max(retentionMs, REPLICA_LAG_MAX_MS),
    ttlResolution: 0,
    perf: { now: () => clock.monotonicMs() },
    dispose: ({ at }, _number, reason) => {
      if (reason === 'evict' && isRecent(at)) forgottenAt = clock.monotonicMs();
    },
  });
  const shorten = createShortener();
  let version = 0;
  return {
    take: (event) => {
      if (event.kind === 'ignored') return 'nothing';
      version += 1;
      if (event.kind === 'everything') {
        heardAllSince = clock.monotonicMs();
        return 'everything';
      }
      const issue = shorten(event.issue);
      const noted = { issue, isGone: event.isGone, at: clock.monotonicMs() };
      const known = events.peek(issue.number);
      const isOld = known && (known.isGone || known.issue.updatedAt > issue.updatedAt);
      if (!isOld) events.set(issue.number, noted);
      return noted;
    },
    of: (number) => (events.size === 0 ? undefined : events.peek(number)),
    aheadOf: (number) => {
      const arrival = events.peek(number);
      return arrival && isRecent(arrival.at) ? arrival : undefined;
    },
    someAhead: (isAhead) => {
      for (const arrival of events.values()) {
        if (!isRecent(arrival.at)) return false;
        if (isAhead(arrival)) return true;
      }
      return false;
    },
    hasForgotten: () => isRecent(forgottenAt),
    heldAt: ({ number, updatedAt }) => {
      const known = events.peek(number);
      const now = clock.monotonicMs();
      const heldAt = now - (clock.now() - updatedAt);
      const isNewest = !known || (!known.isGone && known.issue.updatedAt < updatedAt);
      const isHeard = heldAt >= heardAllSince && !isRecent(forgottenAt);
      return isNewest && isHeard && heldAt <= now && isRecent(heldAt) ? heldAt : undefined;
    },
    get version() {
      return version;
    },
  };
}

/** Thousands stay for an hour: a storm must not cost more memory than what is read of them. */
function createShortener(): (issue: IssueEvent['issue']) => IssueEvent['issue'] {
  const labelSets = new LRUCache<string, readonly string[]>(atMostEntries(LABEL_SETS_MAX));
  return ({ number, title, state, labels, createdAt, updatedAt, isPullRequest }) => {
    const key = JSON.stringify(labels);
    let known = labelSets.get(key);
    if (!known) labelSets.set(key, (known = labels));
    return { number, title, state, labels: known, createdAt, updatedAt, isPullRequest };
  };
}

/** True when `issue`, as fetched, is older than the event, or may be: the tracker's clock ticks in seconds. */
export function lagsBehind(issue: Issue, event: IssueEvent): boolean {
  if (event.isGone || issue.updatedAt < event.issue.updatedAt) return true;
  return issue.updatedAt === event.issue.updatedAt && looksDifferent(issue, event.issue);
}

/** True when the event is certainly newer than `issue` as fetched. */
export function supersedes(event: IssueEvent | undefined, issue: Issue): event is IssueEvent {
  return event !== undefined && (event.isGone || event.issue.updatedAt > issue.updatedAt);
}

function looksDifferent(left: Issue, right: IssueEvent['issue']): boolean {
  return (
    left.state !== right.state ||
    (right.title !== undefined && left.title !== right.title) ||
    foldLabels(left.labels).join('\n') !== foldLabels(right.labels).join('\n')
  );
}
