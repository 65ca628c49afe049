import { LRUCache } from 'lru-cache';
import { atMostEntries } from '#shared/caching/cache-size.ts';
import { type Clock, SECOND, sleepUntilAborted } from '#shared/clock.ts';
import type { CursorSealer } from '#shared/pagination/page.ts';
import type { Visibility } from '../reading/prepared-query.ts';
import { createFeedCursors, type FeedPosition } from './feed-cursor.ts';
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
  close(): Promise<void>;
};

type Wait = { waitMs: number; signal: AbortSignal };

export type LeadFeedDeps = Omit<ReadFeedDeps, 'clock'> & { cursors: CursorSealer; clock: Clock };

/** What waits for the tracker is asked for again so often. */
const HELD_MS = SECOND;
/** A stream outlives the failures of the tracker. */
const FAILED_MS = 5 * SECOND;
const NOTE_READER_EVERY_MS = 10 * SECOND;
const READERS_MAX = 10_000;

export function createLeadFeed(deps: LeadFeedDeps): LeadFeed {
  const { clock } = deps;
  const cursors = createFeedCursors(deps.cursors, clock);
  const changes = createChangeSignal(deps.store);
  const noteReader = createReaderNotes(deps);

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
      return { items: entries.map(({ item }) => item), pagination: { hasMore, nextCursor } };
    },
    follow: async function* (query, visibility, wait) {
      let position = await begin(query, visibility);
      yield { cursor: cursors.seal(position, visibility) };
      while (!wait.signal.aborted) {
        const request = { limit: query.limit, visibility };
        const step = await stepInTime(position, request, wait).catch(unlessTrackerFails);
        if (!step) await sleepUntilAborted(clock, FAILED_MS, wait.signal);
        for (const entry of step?.entries ?? [])
          yield { cursor: cursors.seal(entry.position, visibility), item: entry.item };
        position = step?.next ?? position;
        if ((step?.entries.length ?? 0) === 0 && !wait.signal.aborted)
          yield { cursor: cursors.seal(position, visibility) };
      }
    },
    close: () => changes.close(),
  };
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
