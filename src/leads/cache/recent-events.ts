import { LRUCache } from 'lru-cache';

import { SECOND } from '#shared/clock.ts';
import type { Clock } from '#shared/clock.ts';

import { foldLabels } from '../model/labels.ts';
import type { Change } from '../feed/change.ts';
import type { Issue, IssueFacts, TrackerEvent } from '../lead-tracker.ts';

/**
 * What the webhook last said of one issue: nothing of its people, and no text but the title, which is
 * missing when another instance told.
 */
export type IssueEvent = { issue: IssueFacts & { title?: string }; isGone: boolean };

/**
 * What events said, for two uses. The webhook is faster than the tracker's replicas, so a response
 * fetched right after an event can be older than the event. And while the tracker fails, last good
 * values are served that events have long refuted.
 */
export type RecentEvents = {
  /** Stores what counts of the event, and returns what it concerns. In constant time. */
  take(event: TrackerEvent | Change): IssueEvent | 'everything' | 'nothing';
  /** The newest event of this issue that is still remembered. */
  of(number: number): IssueEvent | undefined;
  /** The same, when it is so new that a replica may not have it yet. */
  aheadOf(number: number): IssueEvent | undefined;
  /** True when `isAhead` says so of an event that a replica may not have yet. */
  someAhead(isAhead: (event: IssueEvent) => boolean): boolean;
  /** True while more events came lately than are remembered: any response may be older than one. */
  hasForgotten(): boolean;
  /** Grows with every event. */
  readonly version: number;
};

const REPLICA_LAG_MAX_MS = 15 * SECOND;
const EVENTS_MAX = 20_000;
/** Sets of labels, each stored once for all issues that carry it. */
const LABEL_SETS_MAX = 1000;

/** `retentionMs`: as long as a response older than an event may be served. */
export function createRecentEvents(
  clock: Pick<Clock, 'monotonicMs'>,
  retentionMs: number,
): RecentEvents {
  const events = new LRUCache<number, IssueEvent>({
    max: EVENTS_MAX,
    ttl: Math.max(retentionMs, REPLICA_LAG_MAX_MS),
    ttlResolution: 0,
    perf: { now: () => clock.monotonicMs() },
  });
  const ahead = createAhead(clock);
  const shorten = createShortener();
  let version = 0;
  return {
    take: (event) => {
      if (event.kind === 'ignored') return 'nothing';
      version += 1;
      if (event.kind === 'everything') return 'everything';
      const noted: IssueEvent = { issue: shorten(event.issue), isGone: event.isGone };
      const known = events.get(noted.issue.number);
      const isOld = known && (known.isGone || known.issue.updatedAt > noted.issue.updatedAt);
      if (isOld) return noted;
      events.set(noted.issue.number, noted);
      ahead.add(noted);
      return noted;
    },
    of: (number) => (events.size === 0 ? undefined : events.get(number)),
    aheadOf: (number) => ahead.of(number),
    someAhead: (isAhead) => ahead.all().some(isAhead),
    hasForgotten: () => ahead.hasForgotten(),
    get version() {
      return version;
    },
  };
}

/** Thousands stay for an hour: a storm must not cost more memory than what is read of them. */
function createShortener(): (issue: IssueEvent['issue']) => IssueEvent['issue'] {
  const labelSets = new LRUCache<string, readonly string[]>({ max: LABEL_SETS_MAX });
  return ({ number, title, state, labels, createdAt, updatedAt, isPullRequest }) => {
    const key = JSON.stringify(labels);
    let known = labelSets.get(key);
    if (!known) labelSets.set(key, (known = labels));
    const rest = { createdAt, updatedAt, isPullRequest };
    return { number, ...(title !== undefined && { title }), state, labels: known, ...rest };
  };
}

/** The events of the last seconds, one for each issue. */
function createAhead(clock: Pick<Clock, 'monotonicMs'>) {
  /** In the order of arrival, so that what has expired stands in front. */
  const arrivals = new Map<number, { at: number; event: IssueEvent }>();
  let forgottenAt = -Infinity;
  const isRecent = (at: number): boolean => clock.monotonicMs() - at < REPLICA_LAG_MAX_MS;
  const dropExpired = (): void => {
    for (const [number, { at }] of arrivals) {
      if (isRecent(at)) return;
      arrivals.delete(number);
    }
  };
  return {
    add: (event: IssueEvent): void => {
      const { number } = event.issue;
      arrivals.delete(number);
      arrivals.set(number, { at: clock.monotonicMs(), event });
      dropExpired();
      if (arrivals.size <= EVENTS_MAX) return;
      const [oldest] = arrivals.keys();
      if (oldest !== undefined) arrivals.delete(oldest);
      forgottenAt = clock.monotonicMs();
    },
    of: (number: number): IssueEvent | undefined => {
      const arrival = arrivals.get(number);
      return arrival && isRecent(arrival.at) ? arrival.event : undefined;
    },
    all: (): IssueEvent[] => {
      dropExpired();
      return [...arrivals.values()].map(({ event }) => event);
    },
    hasForgotten: () => isRecent(forgottenAt),
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
