import { memoizePair } from '#shared/caching.ts';
import { type Clock, SECOND } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import type { Log } from '#shared/log.ts';
import type { CursorSealer } from '#shared/pagination/page.ts';
import { createFlightsByQuestion, createNextTurnFlight } from '#shared/resilience/single-flight.ts';
import { createTurns } from '#shared/resilience/turns.ts';
import type { Claims, ClaimView } from '../claims/claim-view.ts';
import type { Visibility } from '../model/lead-query.ts';
import { isTrackerFault } from '../reading/confirmed-cache.ts';
import { type ChangeSignal, createChangeSignal } from './change-signal.ts';
import {
  createFeedCursors,
  type FeedCursors,
  type FeedPosition,
  refuseOtherEra,
} from './feed-cursors.ts';
import type { FeedItem, FeedPage } from './feed-item.ts';
import { createFollowerNotes, type Follower, readFollower } from './followers.ts';
import { beginFeed, type Feed, type FeedStep, readFeedStep } from './read-feed.ts';
import { readEra, readFeedEnd } from './stored-changes.ts';
import { createToldStretches, type ToldStretches } from './told-stretches.ts';

/** A read of the feed, already validated. */
export type FeedQuery = {
  /** 1 to 500. */
  limit: number;
  cursor?: string;
  /** Without a cursor: everything that is readable now comes first. */
  fromStart: boolean;
};

/** An event of a stream, and the cursor of a reader that has it. `isCaughtUp`: everything up to now was told. */
export type FeedEvent = { cursor: string; item?: FeedItem; isCaughtUp?: boolean };

/** The changes of the leads that a consumer may read, whoever made them. */
export type LeadFeed = {
  /**
   * The next items, oldest first. Where there are none it waits for some, up to `waitMs` and until `signal` is
   * aborted.
   * @throws {invalid-cursor} @throws {cursor-expired} @throws {tracker-failed} @throws {tracker-unavailable}
   * @throws {store-unavailable}
   */
  read(query: FeedQuery, visibility: Visibility, wait: Wait): Promise<FeedPage>;
  /**
   * The items without an end: each with its cursor, that everything was told, whenever it was, and where there was
   * nothing for `waitMs` the cursor alone, which comes first of all, too. Ends when `signal` is aborted.
   */
  follow(query: FeedQuery, visibility: Visibility, wait: Wait): AsyncGenerator<FeedEvent, void>;
  /**
   * The items without leads that were claimed since they were read, which takes long where the tracker is slow. To be
   * asked for when nothing else is waited for before they are sent. @throws {store-unavailable}
   */
  withoutClaimed(items: readonly FeedItem[]): Promise<readonly FeedItem[]>;
  /** The reader that asked so has the whole page. */
  notePageTold(query: FeedQuery, page: FeedPage, visibility: Visibility): void;
  /** Writes what readers are known to have been told by now. */
  flushTold(): Promise<void>;
  /** Streams that are open. */
  listeners(): number;
  /** Time of the last change of any lead; undefined when there was none. @throws {store-unavailable} */
  newestAt(): Promise<number | undefined>;
  /** Undefined: the consumer never read the feed. @throws {store-unavailable} */
  follower(visibility: Visibility): Promise<Follower | undefined>;
  close(): Promise<void>;
};

type Wait = { waitMs: number; signal: AbortSignal };

/** Called for each item; `lagMs` since its change, on a stream that had all before it. */
type OnItem = (lagMs?: number) => void;

/** Leads that the tracker does not show yet are asked for again this often. */
const WAITING_MS = SECOND;
const FAILED_MS = 5 * SECOND;
/** Others get their turn of the event loop in between. */
const EVENTS_A_TURN = 50;
/** Steps of a read that does not wait, through changes that do not concern the reader. */
const STEPS_MAX = 10;

export function createLeadFeed(
  { claimView, ...leads }: Omit<Feed, 'readEnd' | 'walked'> & { claimView: ClaimView },
  { cursors: sealer, log, onItem }: { cursors: CursorSealer; log: Log; onItem: OnItem },
): LeadFeed {
  const { store, clock } = leads;
  const readEnd = createNextTurnFlight(() => readFeedEnd(store));
  const era = createNextTurnFlight(() => readEra(store));
  const feed: Feed = { ...leads, readEnd, walked: new WeakMap() };
  const cursors = createFeedCursors(sealer, clock);
  const changes = createChangeSignal({ db: store.db, readEnd, clock });
  const noteFollower = createFollowerNotes(store, clock, log);
  const stretches = createToldStretches(store, clock, log);
  let listeners = 0;
  const begin = (query: FeedQuery, visibility: Visibility) =>
    beginSteps({ feed, cursors, era }, query, visibility);
  const toEvent = memoizePair(({ position, ...event }: UnsealedEvent, visibility: Visibility) => ({
    ...event,
    cursor: cursors.seal(position, visibility),
  }));
  const toPage = memoizePair(({ entries, hasMore, next }: FeedStep, visibility: Visibility) => {
    const nextCursor = cursors.seal(next, visibility);
    return { items: entries.map(({ item }) => item), pagination: { hasMore, nextCursor } };
  });
  /** One for all of a consumer who stand at the same place: a change wakes many. */
  const readStep = createFlightsByQuestion(async ({ from, ...request }: StepRequest) => {
    refuseOtherEra(from, await era()); // a stream may have begun before that one
    const step = await readFeedStep(feed, from, request);
    await noteFollower(request.visibility, step.next);
    return stepIn(from.era, step);
  });
  const turn = createTurns(EVENTS_A_TURN);
  const stream = { clock, onItem, turn, changes, noteFollower, stretches, readStep, toEvent };

  return {
    read: async (query, visibility, wait) => {
      const step = await readSome(stream, await begin(query, visibility), wait);
      for (const _entry of step.entries) onItem();
      return toPage(step, visibility);
    },
    follow: async function* (query, visibility, wait) {
      const begun = await begin(query, visibility);
      listeners += 1;
      try {
        yield* followFrom(stream, begun, wait);
      } finally {
        listeners -= 1;
      }
    },
    withoutClaimed: async (items) => withoutClaimed(items, await claimView.current()),
    notePageTold: (query, page, visibility) =>
      notePageTold({ cursors, stretches }, { query, page, visibility }),
    flushTold: () => stretches.flush(),
    listeners: () => listeners,
    newestAt: async () => (await readEnd())?.[0] || undefined,
    follower: (visibility) => readFollower(feed, visibility),
    close: async () => {
      await changes.close();
      await stretches.close();
    },
  };
}

/** @throws {invalid-cursor} @throws {cursor-expired} @throws {tracker-unavailable} @throws {store-unavailable} */
async function beginSteps(
  { feed, cursors, era }: Beginning,
  { cursor, ...query }: FeedQuery,
  visibility: Visibility,
): Promise<StepRequest> {
  const { limit } = query;
  if (!(await feed.readEnd())) await feed.identify(); // before that nobody knows of which era a cursor is
  if (cursor === undefined) {
    const begun = await beginFeed(feed, query);
    return { from: { ...begun, era: await era() }, limit, visibility };
  }
  const from = cursors.open(cursor, visibility);
  refuseOtherEra(from, await era());
  return { from, limit, visibility };
}

/** The step with places of that era. */
function stepIn(era: number | undefined, step: FeedStep): FeedStep {
  if (era === undefined) return step;
  const entries = step.entries.map(({ item, position }) => ({
    item,
    position: { ...position, era },
  }));
  return { ...step, entries, next: { ...step.next, era } };
}

function withoutClaimed(items: readonly FeedItem[], claims: Claims): readonly FeedItem[] {
  const isShown = ({ type, id }: FeedItem) => type === 'lead.removed' || !claims.has(Number(id));
  return items.every(isShown) ? items : items.filter(isShown);
}

/** The next step that has something to tell, or the last one that there was time for. */
async function readSome(
  { clock, changes, readStep }: Stream,
  request: StepRequest,
  { waitMs, signal }: Wait,
): Promise<FeedStep> {
  const until = clock.monotonicMs() + waitMs;
  for (let steps = 1; ; steps += 1) {
    const seen = changes.listen();
    const step = await readStep(request);
    const { entries, hasMore, isWaiting } = step;
    request.from = step.next;
    const leftMs = until - clock.monotonicMs();
    const isOver = leftMs <= 0 && (!hasMore || isWaiting || steps >= STEPS_MAX);
    if (entries.length > 0 || isOver || signal.aborted) return step;
    const restMs = isWaiting ? Math.min(leftMs, WAITING_MS) : leftMs;
    if (!hasMore || isWaiting) await changes.next(seen, restMs, signal);
  }
}

type ReadPage = { query: FeedQuery; page: FeedPage; visibility: Visibility };

function notePageTold(
  { cursors, stretches }: { cursors: FeedCursors; stretches: ToldStretches },
  { query: { cursor, fromStart }, page: { pagination }, visibility }: ReadPage,
): void {
  try {
    const next = cursors.open(pagination.nextCursor, visibility);
    const begun = fromStart ? { ...next, walk: '' } : next;
    stretches.note(
      visibility,
      next,
      cursor === undefined ? begun : cursors.open(cursor, visibility),
    );
  } catch (error) {
    // Its time has just run out.
    if (!isTrackportError(error, 'cursor-expired')) throw error;
  }
}

/** An event, with the position that its cursor is made of. */
type UnsealedEvent = { position: FeedPosition } & Omit<FeedEvent, 'cursor'>;

type StepRequest = { from: FeedPosition; limit: number; visibility: Visibility };

/** Place of a reader's first step, and `readEra` for all of a moment. */
type Beginning = { feed: Feed; cursors: FeedCursors; era: () => Promise<number | undefined> };

type Stream = {
  clock: Clock;
  onItem: OnItem;
  changes: ChangeSignal;
  noteFollower: ReturnType<typeof createFollowerNotes>;
  stretches: ToldStretches;
  readStep: (request: StepRequest) => Promise<FeedStep>;
  toEvent: (event: UnsealedEvent, visibility: Visibility) => FeedEvent;
  turn: () => Promise<void>;
};

async function* followFrom(
  stream: Stream,
  request: StepRequest,
  { waitMs, signal }: Wait,
): AsyncGenerator<FeedEvent, void> {
  const { changes, noteFollower, stretches, toEvent } = stream;
  const { visibility } = request;
  const toCursor = (): FeedEvent => toEvent({ position: request.from }, visibility);
  let hadAll = false;
  yield toCursor();
  stretches.note(visibility, request.from);
  while (!signal.aborted) {
    const seen = changes.listen();
    const { waitsMs = waitMs, ...step } = await readOrWait(stream, request);
    yield* tell(stream, step, { visibility, hadAll });
    stretches.note(visibility, step.next, request.from); // whoever did not take all of it has ended this
    request.from = step.next;
    hadAll ||= !step.hasMore;
    if (step.hasMore && !step.isWaiting) continue;
    while (!(await changes.next(seen, waitsMs, signal))) {
      yield toCursor();
      await noteFollower(visibility, request.from);
      stretches.note(visibility, request.from);
      if (step.hasMore) break;
    }
  }
}

/** `waitsMs`: when to read again, whether anything changes or not. A stream outlives the failures of the tracker. */
async function readOrWait(
  { readStep }: Stream,
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

/** Measures the lag of items for a reader that had everything once: from then on it waits for each. */
async function* tell(
  { clock, onItem, toEvent, turn }: Stream,
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
