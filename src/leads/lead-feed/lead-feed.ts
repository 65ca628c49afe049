import { LRUCache } from 'lru-cache';
import { atMostEntries, memoizePair } from '#shared/caching.ts';
import { type Clock, SECOND } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import type { CursorSealer } from '#shared/pagination/page.ts';
import { createFlightsByQuestion, createNextTurnFlight } from '#shared/resilience/single-flight.ts';
import type { Log } from '#shared/log.ts';
import { createTurns } from '#shared/resilience/turns.ts';
import { foldLabels } from '../model/labels.ts';
import { readableBy } from './lead-change.ts';
import type { Visibility } from '../reading/prepared-query.ts';
import { createFeedCursors, type FeedCursors, type FeedPosition } from './feed-cursors.ts';
import { createFeedReads, type FeedReads } from './feed-reads.ts';
import { type ChangeSignal, createChangeSignal } from './change-signal.ts';
import { beginFeed, type FeedStep, type ReadFeedDeps, readFeedStep } from './read-feed.ts';
import type { FeedItem, FeedPage } from './feed-item.ts';
import { noteFeedReader } from './note-changes.ts';
import { readChangesAfter, readFeedEnd, readFeedReader } from './read-changes.ts';
import { isTrackerFault } from '../cache/confirmed-cache.ts';

/** A read of the feed, already validated. */
export type FeedQuery = {
  /** 1 to 500. */
  limit: number;
  cursor?: string;
  /** Without a cursor: everything that is readable now comes first. */
  fromStart: boolean;
};

/** What a stream tells, and the cursor of who has it. `isCaughtUp`: everything up to now was told. */
export type FeedEvent = { cursor: string; item?: FeedItem; isCaughtUp?: boolean };

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
   * The same without an end: each item with its cursor, that everything was told, whenever it was, and where there was
   * nothing for `waitMs` the cursor alone, which comes first of all, too. Ends when `signal` is aborted.
   */
  follow(query: FeedQuery, visibility: Visibility, wait: Wait): AsyncGenerator<FeedEvent, void>;
  /** The reader that asked so has the whole page. */
  noteRead(query: FeedQuery, page: FeedPage, visibility: Visibility): void;
  /** Writes how far readers are known to have read by now. */
  flushReads(): Promise<void>;
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

export type LeadFeedDeps = Omit<ReadFeedDeps, 'clock' | 'walked' | 'readEnd'> & {
  cursors: CursorSealer;
  clock: Clock;
  log: Log;
  /** For each item; `lagMs` since its change, on a stream that had all before it. */
  onItem: (lagMs?: number) => void;
};

/** What waits for the tracker is asked for again so often. */
const WAITING_MS = SECOND;
/** The same when the tracker failed. */
const FAILED_MS = 5 * SECOND;
const NOTE_READER_EVERY_MS = 10 * SECOND;
const READERS_MAX = 10_000;
/** Others get their turn of the event loop in between. */
const EVENTS_A_TURN = 50;
/** So often a read that does not wait looks through changes that do not concern the reader. */
const LOOKS_MAX = 10;
/** Whether a change among so many waits for it. */
const FOLLOWER_LOOKS_THROUGH = 2000;
/** Where a reader is, is noted that late. */
const NOTED_WITHIN_MS = 30 * SECOND;

export function createLeadFeed(options: LeadFeedDeps): LeadFeed {
  const readEnd = createNextTurnFlight(() => readFeedEnd(options.store));
  const deps = { ...options, readEnd, walked: new WeakMap(), turn: createTurns(EVENTS_A_TURN) };
  const { clock } = deps;
  const cursors = createFeedCursors(deps.cursors, clock);
  const changes = createChangeSignal({ db: options.store.db, readEnd, clock });
  const noteReader = createReaderNotes(deps);
  const reads = createFeedReads(deps.store, clock, deps.log);
  let listeners = 0;
  const begin = async (query: FeedQuery, visibility: Visibility): Promise<StepRequest> => {
    const { cursor, limit } = query;
    const known = cursor === undefined ? undefined : cursors.open(cursor, visibility);
    return { from: known ?? (await beginFeed(deps, query)), limit, visibility };
  };
  const toEvent = memoizePair(({ position, ...event }: Place, visibility: Visibility) => ({
    ...event,
    cursor: cursors.seal(position, visibility),
  }));
  const toPage = memoizePair(({ entries, hasMore, next }: FeedStep, visibility: Visibility) => {
    const nextCursor = cursors.seal(next, visibility);
    return { items: entries.map(({ item }) => item), pagination: { hasMore, nextCursor } };
  });
  /** One for all of a consumer who stand at the same place: a change wakes many. */
  const readStep = createFlightsByQuestion(async ({ from, ...request }: StepRequest) => {
    const step = await readFeedStep(deps, from, request);
    await noteReader(request.visibility, step.next);
    return step;
  });

  return {
    read: async (query, visibility, { waitMs, signal }) => {
      const request = await begin(query, visibility);
      const step = await readSome({ clock, changes, readStep }, request, { waitMs, signal });
      for (const _entry of step.entries) deps.onItem();
      return toPage(step, visibility);
    },
    follow: async function* (query, visibility, wait) {
      const begun = await begin(query, visibility);
      listeners += 1;
      try {
        yield* followFrom({ ...deps, changes, noteReader, reads, readStep, toEvent }, begun, wait);
      } finally {
        listeners -= 1;
      }
    },
    noteRead: (query, page, visibility) =>
      noteRead({ cursors, reads }, { query, page, visibility }),
    flushReads: () => reads.flush(),
    listeners: () => listeners,
    newestAt: async () => (await readEnd())?.[0] || undefined,
    follower: (visibility) => readFollower(deps, visibility),
    close: async () => {
      await changes.close();
      await reads.close();
    },
  };
}

/** The next step that has something to tell, or the last one that there was time for. */
async function readSome(
  { clock, changes, readStep }: Pick<Following, 'clock' | 'changes' | 'readStep'>,
  request: StepRequest,
  { waitMs, signal }: Wait,
): Promise<FeedStep> {
  const until = clock.monotonicMs() + waitMs;
  for (let looks = 1; ; looks += 1) {
    const seen = changes.seen();
    const step = await readStep(request);
    const { entries, hasMore, isWaiting } = step;
    request.from = step.next;
    const leftMs = until - clock.monotonicMs();
    const isOver = leftMs <= 0 && (!hasMore || isWaiting || looks >= LOOKS_MAX);
    if (entries.length > 0 || isOver || signal.aborted) return step;
    const restMs = isWaiting ? Math.min(leftMs, WAITING_MS) : leftMs;
    if (!hasMore || isWaiting) await changes.next(seen, restMs, signal);
  }
}

type ReadPage = { query: FeedQuery; page: FeedPage; visibility: Visibility };

function noteRead(
  { cursors, reads }: { cursors: FeedCursors; reads: FeedReads },
  { query: { cursor, fromStart }, page: { pagination }, visibility }: ReadPage,
): void {
  try {
    const next = cursors.open(pagination.nextCursor, visibility);
    const begun = fromStart ? { ...next, walk: '' } : next;
    reads.note(visibility, next, cursor === undefined ? begun : cursors.open(cursor, visibility));
  } catch (error) {
    // Its time has just run out.
    if (!isTrackportError(error, 'cursor-expired')) throw error;
  }
}

/** Where a reader is, and what brought it there. */
type Place = { position: FeedPosition } & Omit<FeedEvent, 'cursor'>;

type StepRequest = { from: FeedPosition; limit: number; visibility: Visibility };

type Following = Pick<LeadFeedDeps, 'clock' | 'onItem'> & {
  changes: ChangeSignal;
  noteReader: ReturnType<typeof createReaderNotes>;
  reads: FeedReads;
  readStep: (request: StepRequest) => Promise<FeedStep>;
  toEvent: (entry: Place, visibility: Visibility) => FeedEvent;
  turn: () => Promise<void>;
};

async function* followFrom(
  deps: Following,
  request: StepRequest,
  { waitMs, signal }: Wait,
): AsyncGenerator<FeedEvent, void> {
  const { changes, noteReader, reads, toEvent } = deps;
  const { visibility } = request;
  const toCursor = (): FeedEvent => toEvent({ position: request.from }, visibility);
  let hadAll = false;
  yield toCursor();
  reads.note(visibility, request.from);
  while (!signal.aborted) {
    const seen = changes.seen();
    const { waitsMs = waitMs, ...step } = await readOrWait(deps, request);
    yield* tell(deps, step, { visibility, hadAll });
    reads.note(visibility, step.next, request.from); // whoever did not take all of it has ended this
    request.from = step.next;
    hadAll ||= !step.hasMore;
    if (step.hasMore && !step.isWaiting) continue;
    while (!(await changes.next(seen, waitsMs, signal))) {
      yield toCursor();
      await noteReader(visibility, request.from);
      reads.note(visibility, request.from);
      if (step.hasMore) break;
    }
  }
}

/** `waitsMs`: when to look again, whether anything changes or not. A stream outlives the failures of the tracker. */
async function readOrWait(
  { readStep }: Following,
  request: StepRequest,
): Promise<FeedStep & { waitsMs?: number }> {
  try {
    const step = await readStep(request);
    return step.hasMore ? { ...step, waitsMs: WAITING_MS } : step;
  } catch (error) {
    if (!isTrackerFault(error)) throw error;
    return { entries: [], next: request.from, hasMore: true, isWaiting: true, waitsMs: FAILED_MS };
  }
}

/** Who had all there was once waits for each item from then on. */
async function* tell(
  { clock, onItem, toEvent, turn }: Following,
  { entries, next, hasMore }: FeedStep,
  { visibility, hadAll }: { visibility: Visibility; hadAll: boolean },
): AsyncGenerator<FeedEvent, void> {
  for (const entry of entries) {
    await turn();
    yield toEvent(entry, visibility);
    onItem(hadAll ? Math.max(0, clock.now() - Date.parse(entry.item.at)) : undefined);
  }
  if (!hasMore && (entries.length > 0 || !hadAll))
    yield toEvent({ position: next, isCaughtUp: true }, visibility);
}

/** While anybody follows, the lead directory is kept; and people see who, and how far. */
function createReaderNotes({ store, clock }: LeadFeedDeps) {
  const notedAt = new LRUCache<string, number>(atMostEntries(READERS_MAX));
  return async ({ consumerId }: Visibility, { place }: FeedPosition): Promise<void> => {
    const now = clock.monotonicMs();
    if (now - (notedAt.get(consumerId) ?? -Infinity) < NOTE_READER_EVERY_MS) return;
    notedAt.set(consumerId, now);
    await noteFeedReader(store.db, { consumerId, position: place[0], readAt: clock.now() });
  };
}

async function readFollower(
  { store, clock }: LeadFeedDeps,
  { consumerId, labels }: Visibility,
): Promise<Follower | undefined> {
  const reader = await readFeedReader(store.db, consumerId);
  if (!reader) return undefined;
  const place = [reader.position, Number.MAX_SAFE_INTEGER] as const;
  const folded = foldLabels(labels);
  const changes = await readChangesAfter(store, place, FOLLOWER_LOOKS_THROUGH);
  const next = changes.find((change) => {
    const readable = readableBy(change, folded);
    return readable === true || (readable && readable.leftAt > reader.position);
  });
  const isBehind = next !== undefined && clock.now() - next.position > NOTED_WITHIN_MS;
  return { readAt: reader.readAt, ...(isBehind && { behindSince: next.position }) };
}
