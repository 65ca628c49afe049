import { LRUCache } from 'lru-cache';

import { SECOND, type Clock } from '#shared/clock.ts';

import { foldLabels } from '../model/labels.ts';
import type { Issue, TrackerEvent } from '../lead-tracker.ts';

/** What the webhook last said of one issue. */
export type IssueEvent = { issue: Issue; gone: boolean };

/**
 * What events told, for two uses. The webhook is faster than the tracker's replicas, so an answer
 * fetched right after an event can be older than the event. And while the tracker fails, last good
 * answers are served that events have long refuted.
 */
export type RecentEvents = {
  /** Keeps the event, without the issue's body, and tells what it concerns. */
  take(event: TrackerEvent): IssueEvent | 'everything' | 'nothing';
  /** The newest event of this issue that is still remembered. */
  of(number: number): IssueEvent | undefined;
  /** Events so new that a replica may not have them yet. */
  ahead(): readonly IssueEvent[];
  /** Grows with every event. */
  readonly version: number;
};

const REPLICA_LAG_MAX_MS = 15 * SECOND;
const EVENTS_MAX = 20_000;

/** `keptFor` (ms): as long as an answer older than an event may be served. */
export function createRecentEvents(clock: Clock, keptFor: number): RecentEvents {
  const events = new LRUCache<number, IssueEvent>({
    max: EVENTS_MAX,
    ttl: Math.max(keptFor, REPLICA_LAG_MAX_MS),
    ttlResolution: 0,
    perf: { now: () => clock.now() },
  });
  let arrivals: { at: number; event: IssueEvent }[] = [];
  let version = 0;
  return {
    take: (event) => {
      if (event.kind === 'ignored') return 'nothing';
      version += 1;
      if (event.kind === 'everything') return 'everything';
      const told: IssueEvent = { issue: { ...event.issue, body: '' }, gone: event.gone };
      const known = events.get(told.issue.number);
      const isOld = known && (known.gone || known.issue.updatedAt > told.issue.updatedAt);
      if (isOld) return told;
      events.set(told.issue.number, told);
      arrivals = [
        ...arrivals.filter(
          ({ at, event: { issue } }) =>
            clock.now() - at < REPLICA_LAG_MAX_MS && issue.number !== told.issue.number,
        ),
        { at: clock.now(), event: told },
      ];
      return told;
    },
    of: (number) => (events.size === 0 ? undefined : events.get(number)),
    ahead: () =>
      arrivals.filter(({ at }) => clock.now() - at < REPLICA_LAG_MAX_MS).map(({ event }) => event),
    get version() {
      return version;
    },
  };
}

/** True when `issue`, as fetched, is older than the event, or may be: the tracker's clock ticks in seconds. */
export function lagsBehind(issue: Issue, event: IssueEvent): boolean {
  if (event.gone || issue.updatedAt < event.issue.updatedAt) return true;
  return issue.updatedAt === event.issue.updatedAt && looksDifferent(issue, event.issue);
}

/** True when the event is certainly newer than `issue` as fetched. */
export function supersedes(event: IssueEvent | undefined, issue: Issue): event is IssueEvent {
  return event !== undefined && (event.gone || event.issue.updatedAt > issue.updatedAt);
}

function looksDifferent(left: Issue, right: Issue): boolean {
  return (
    left.state !== right.state ||
    left.title !== right.title ||
    foldLabels(left.labels).join('\n') !== foldLabels(right.labels).join('\n')
  );
}
