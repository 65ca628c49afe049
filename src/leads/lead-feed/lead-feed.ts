import { LRUCache } from 'lru-cache';
import { atMostEntries } from '#shared/caching/cache-size.ts';
import { type Clock, SECOND, sleepUntilAborted } from '#shared/clock.ts';
import type { CursorSealer } from '#shared/pagination/page.ts';
import { foldLabels } from '../model/labels.ts';
import type { Visibility } from '../reading/prepared-query.ts';
import { createFeedCursors, type FeedCursors, type FeedPosition } from './feed-cursor.ts';
import type { FeedItem, FeedPage } from './feed-item.ts';
import { isTrackerFault } from '../cache/confirmed-cache.ts';
import { beginFeed, type FeedStep, type ReadFeedDeps, readFeedStep } from './read-feed.ts';

/** A read of the feed, already validated. */
export type FeedQuery = {
  /** 1 to 500. */
  limit: number;
  cursor?: string;
  /** Without a cursor: everything that is readable now comes first. */
  fromStart: boolean;
};

/** An item for a stream, and the cursor of who has it. */
export type FeedEvent = { cursor: string; item?: FeedItem };

/** What changed of the leads that a consumer may read, whoever changed it. */
export type LeadFeed = {
  /**
   * The next items, oldest first. Where there are none it waits for some, up to `waitMs` and until `signal` is
   * aborted.
   * @throws {invalid-cursor} @throws {cursor-expired} @throws {tracker-failed} @throws {tracker-unavailable}
   * @throws {store-unavailable}
   */
  read(query: FeedQuery, visibility: Visibility, wait: Wait): Promise<FeedPage>;
  /**
   * The same without an end: each item with its cursor, and where there was none for `waitMs` the cursor alone, which
   * comes first of all, too. Ends when `signal` is aborted.
   */
  follow(query: FeedQuery, visibility: Visibility, wait: Wait): AsyncGenerator<FeedEvent, void>;
  /** Streams that are open. */
  listeners(): number;
  /** When a lead changed last; undefined when none ever did. @throws {store-unavailable} */
  newestAt(): Promise<number | undefined>;
  /** Undefined: the consumer never read the feed. @throws {store-unavailable} */
  follower(visibility: Visibility): Promise<Follower | undefined>;
  close(): Promise<void>;
};

/** A consumer that follows the feed. Instants are ms since the Unix epoch, right within some 30 seconds. */
export type Follower = {
  readAt: number;
  /** Since when a change waits for it; undefined: it has all. */
  behindSince?: number;
};

type Wait = { waitMs: number; signal: AbortSignal };

export type LeadFeedDeps = Omit<ReadFeedDeps, 'clock' | 'walked'> & {
  cursors: CursorSealer;
  clock: Clock;
  /** For each item; `lagMs` since its change, on a stream that had all before it. */
  onItem: (lagMs?: number) => void;
};

/** What waits for the tracker is asked for again so often. */
const HELD_MS = SECOND;
/** A stream outlives the failures of the tracker. */
const FAILED_MS = 5 * SECOND;
const NOTE_READER_EVERY_MS = 10 * SECOND;
const READERS_MAX = 10_000;
/** Where a reader is, is noted that late. */
const NOTED_WITHIN_MS = 30 * SECOND;

export function createLeadFeed(given: LeadFeedDeps): LeadFeed {
  const deps = { ...given, walked: new WeakMap() };
  const { clock } = deps;
  const cursors = createFeedCursors(deps.cursors, clock);
  const changes = createChangeSignal(deps.store);
  const noteReader = createReaderNotes(deps);
  let listeners = 0;

  const begin = async (query: FeedQuery, visibility: Visibility): Promise<FeedPosition> =>
    query.cursor === undefined ? beginFeed(deps, query) : cursors.open(query.cursor, visibility);

  /** The next step with items, or the last one before the time is over. */
  const stepInTime = async (
    from: FeedPosition,
    request: { limit: number; visibility: Visibility },
    { waitMs, signal }: Wait,
  ): Promise<FeedStep> => {
    const until = clock.monotonicMs() + waitMs;
    let position = from;
    for (;;) {
      const changed = changes.next();
      const step = await readFeedStep(deps, position, request);
      await noteReader(request.visibility, step.next);
      const leftMs = until - clock.monotonicMs();
      if (step.entries.length > 0 || leftMs <= 0 || signal.aborted) return step;
      position = step.next;
      if (step.hasMore && !step.isHeld) continue;
      const sleepMs = step.isHeld ? Math.min(leftMs, HELD_MS) : leftMs;
      await sleepUntilAborted(clock, sleepMs, AbortSignal.any([signal, changed]));
    }
  };
  return {
    read: async (query, visibility, wait) => {
      const from = await begin(query, visibility);
      const step = await stepInTime(from, { limit: query.limit, visibility }, wait);
      const { entries, next, hasMore } = step;
      const nextCursor = cursors.seal(next, visibility);
      for (const _entry of entries) deps.onItem();
      return { items: entries.map(({ item }) => item), pagination: { hasMore, nextCursor } };
    },
    follow: async function* (query, visibility, wait) {
      const begun = await begin(query, visibility);
      listeners += 1;
      try {
        yield* followFrom({ ...deps, cursors, stepInTime }, begun, { ...query, visibility, wait });
      } finally {
        listeners -= 1;
      }
    },
    listeners: () => listeners,
    newestAt: async () => (await deps.store.end())?.[0] || undefined,
    follower: (visibility) => readFollower(deps, visibility),
    close: () => changes.close(),
  };
}

type Following = Pick<LeadFeedDeps, 'clock' | 'onItem'> & {
  cursors: FeedCursors;
  stepInTime: (
    from: FeedPosition,
    request: { limit: number; visibility: Visibility },
    wait: Wait,
  ) => Promise<FeedStep>;
};

/** Who had all there was once waits for each item from then on. */
async function* followFrom(
  { clock, onItem, cursors, stepInTime }: Following,
  begun: FeedPosition,
  { limit, visibility, wait }: { limit: number; visibility: Visibility; wait: Wait },
): AsyncGenerator<FeedEvent, void> {
  let position = begun;
  let hasAll = false;
  yield { cursor: cursors.seal(position, visibility) };
  while (!wait.signal.aborted) {
    const step = await stepInTime(position, { limit, visibility }, wait).catch(unlessTrackerFails);
    if (!step) await sleepUntilAborted(clock, FAILED_MS, wait.signal);
    const { entries = [], next = position, hasMore = true } = step ?? {};
    for (const { item, position: place } of entries) {
      yield { cursor: cursors.seal(place, visibility), item };
      onItem(hasAll ? Math.max(0, clock.now() - Date.parse(item.at)) : undefined);
    }
    position = next;
    hasAll ||= !hasMore;
    if (entries.length === 0 && !wait.signal.aborted)
      yield { cursor: cursors.seal(position, visibility) };
  }
}

function unlessTrackerFails(error: unknown): undefined {
  if (!isTrackerFault(error)) throw error;
}

/** Looks into the store, or listens to it, from the first who waits on. */
function createChangeSignal(store: LeadFeedDeps['store']) {
  let waiting = new AbortController();
  let watching: ReturnType<LeadFeedDeps['store']['watch']> | undefined;
  return {
    /** Aborted with the next change. */
    next: (): AbortSignal => {
      watching ??= store.watch(() => {
        waiting.abort();
        waiting = new AbortController();
      });
      return waiting.signal;
    },
    close: async (): Promise<void> => watching?.close(),
  };
}

/** While anybody follows, the lead directory is kept; and people see who, and how far. */
function createReaderNotes({ store, clock }: LeadFeedDeps) {
  const notedAt = new LRUCache<string, number>(atMostEntries(READERS_MAX));
  return async ({ consumerId }: Visibility, { place }: FeedPosition): Promise<void> => {
    const now = clock.monotonicMs();
    if (now - (notedAt.get(consumerId) ?? -Infinity) < NOTE_READER_EVERY_MS) return;
    notedAt.set(consumerId, now);
    await store.noteReader({ consumerId, position: place[0], readAt: clock.now() });
  };
}

async function readFollower(
  { store, clock }: LeadFeedDeps,
  { consumerId, labels }: Visibility,
): Promise<Follower | undefined> {
  const reader = await store.reader(consumerId);
  if (!reader) return undefined;
  const place = [reader.position, Number.MAX_SAFE_INTEGER] as const;
  const [next] = await store.changesAfter(place, { labels: foldLabels(labels), limit: 1 });
  const isBehind = next !== undefined && clock.now() - next.position > NOTED_WITHIN_MS;
  return { readAt: reader.readAt, ...(isBehind && { behindSince: next.position }) };
}
