import { DAY, MINUTE, toRfc3339 } from '#shared/clock.ts';
import { isTrackportError, TrackportError } from '#shared/errors.ts';
import { type CursorSealer, looksSealed, refuseCursor } from '#shared/pagination/page.ts';
import { isTrackerFault } from '../cache/confirmed-cache.ts';
import { foldLabels } from '../model/labels.ts';
import { type Lead, type LeadList, renderLead } from '../model/lead-out.ts';
import type { LeadReader } from '../reading/lead-reader.ts';
import type { Visibility } from '../reading/prepared-query.ts';
import { bytesOfItem, type FeedItem } from './feed-item.ts';
import { FEED_READABLE_MS, type FeedPlace, type FeedStore, type LeadChange } from './feed-store.ts';
import { type LiveLeadDeps, readLiveLead } from './live-lead.ts';

/** Where a reader goes on. */
export type FeedPosition = {
  /** Behind which change. */
  place: FeedPlace;
  /** Up to where removals were sent, beyond `place`: while the tracker fails they come alone. */
  removedUpTo?: FeedPlace;
  /** Which page of the lead list comes first; `''`: the first one. Changes come behind the last one. */
  walk?: string;
};

const KIND = 'lead-feed/1';

/** Cursors of the lead feed, each bound to its consumer. */
type FeedCursors = {
  seal(position: FeedPosition, visibility: Visibility): string;
  /** @throws {invalid-cursor} it is none @throws {cursor-expired} nobody may go on from there, or nobody can */
  open(cursor: string, visibility: Visibility): FeedPosition;
};

export function createFeedCursors(
  cursors: CursorSealer,
  clock: { now: () => number },
): FeedCursors {
  return {
    seal: (position, { consumerId, labels }) =>
      cursors.seal(KIND, consumerId, [clock.now(), foldLabels(labels), position]),
    open: (cursor, { consumerId, labels }) => {
      const opened = openOrUndefined(cursors, cursor, consumerId);
      if (!isSealed(opened)) return looksSealed(cursor) ? refuseExpired(NOT_OURS) : refuseCursor();
      const [sealedAt, granted, position] = opened;
      if (clock.now() - sealedAt > FEED_READABLE_MS) return refuseExpired('is older than 30 days');
      if (granted.join('\n') !== foldLabels(labels).join('\n'))
        return refuseExpired('was made before what this key may read was changed');
      return position;
    },
  };
}

type Sealed = [sealedAt: number, granted: string[], position: FeedPosition];

const NOT_OURS = 'was made for another consumer, or cannot be read any more';

function isSealed(opened: unknown): opened is Sealed {
  return Array.isArray(opened) && opened.length === 3;
}

function openOrUndefined(cursors: CursorSealer, cursor: string, consumerId: string): unknown {
  try {
    return cursors.open(KIND, consumerId, cursor);
  } catch (error) {
    if (!isTrackportError(error, 'invalid-cursor')) throw error;
    return undefined;
  }
}

function refuseExpired(why: string): never {
  throw new TrackportError('cursor-expired', {
    detail: `The cursor ${why}. Empty your copy, and begin again with \`from=start\` and without \`cursor\`.`,
  });
}

export type ReadFeedDeps = LiveLeadDeps & {
  store: FeedStore;
  reader: LeadReader;
  cache: { readonly freshForMs: number };
  /** Pages of the lead list that were noted as read, and their items. */
  walked: WeakMap<LeadList, readonly FeedItem[]>;
  /** Makes sure that the store knows the repository. @throws {tracker-unavailable} */
  identify(): Promise<void>;
};

/** An item, and where a reader goes on that has it. */
type FeedEntry = { item: FeedItem; position: FeedPosition };

/** `isWaiting`: what comes next waits for the tracker to show it. */
export type FeedStep = {
  entries: readonly FeedEntry[];
  next: FeedPosition;
  hasMore: boolean;
  isWaiting: boolean;
};

const LIST_LIMIT_MAX = 100;
/** So many leads are read at the same time. */
const READ_AT_ONCE = 8;
/** What the leads of a page come to; one that is longer comes alone. */
const PAGE_BYTES_MAX = 1024 * 1024;

/** How many of the leads, from the first on, a page has room for. */
function countFitting(leads: readonly Lead[]): number {
  let bytes = 0;
  const over = leads.findIndex((lead) => (bytes += renderLead(lead).length) > PAGE_BYTES_MAX);
  return over === -1 ? leads.length : Math.max(1, over);
}

/**
 * Where a reader begins: behind all changes of now, or with the lead list, and before it by the age of what is
 * cached. What nobody touched for a day is no change when a crawl meets it.
 * @throws {tracker-unavailable} @throws {store-unavailable}
 */
export async function beginFeed(
  { store, cache, clock, ...deps }: ReadFeedDeps,
  { fromStart }: { fromStart: boolean },
): Promise<FeedPosition> {
  let end = await store.end();
  if (!end) await deps.identify();
  end ??= (await store.end()) ?? [0, 0];
  const position = Math.max(end[0], clock.now() - DAY);
  if (!fromStart) return { place: [position, Number.MAX_SAFE_INTEGER] };
  return { place: [position - cache.freshForMs - MINUTE, 0], walk: '' };
}

/**
 * The next items of a reader, up to `limit`.
 * @throws {tracker-failed} @throws {tracker-unavailable} when no removal could be told instead
 * @throws {store-unavailable}
 */
export function readFeedStep(
  deps: ReadFeedDeps,
  position: FeedPosition,
  request: { limit: number; visibility: Visibility },
): Promise<FeedStep> {
  return position.walk === undefined
    ? readChanges(deps, position, request)
    : walkList(deps, { ...position, walk: position.walk }, request);
}

async function walkList(
  deps: ReadFeedDeps,
  { place, walk: cursor }: FeedPosition & { walk: string },
  { limit, visibility }: { limit: number; visibility: Visibility },
): Promise<FeedStep> {
  const start = cursor === '' ? { state: 'all' as const } : { cursor };
  const list = (most: number) =>
    deps.reader.list({ limit: most, labels: [], ...start }, visibility);
  const whole = await list(Math.min(limit, LIST_LIMIT_MAX));
  const fitting = countFitting(whole.value.items);
  const isCut = fitting < whole.value.items.length;
  const { value, cache } = isCut ? await list(fitting) : whole;
  // What changed since a last good list was read would never come.
  if (cache.outcome === 'stale') throw new TrackportError('tracker-unavailable');
  const { nextCursor } = value.pagination;
  const next = { place, ...(nextCursor !== undefined && { walk: nextCursor }) };
  const items = deps.walked.get(value) ?? (await noteWalked(deps, value));
  const entries = items.map((item, index) => ({
    item,
    position: index === items.length - 1 ? next : { place, walk: cursor },
  }));
  return { entries, next, hasMore: true, isWaiting: false };
}

async function noteWalked(
  { store, clock, walked }: ReadFeedDeps,
  list: LeadList,
): Promise<readonly FeedItem[]> {
  const leads = list.items.map(({ id, updatedAt, labels }) => ({
    number: Number(id),
    updatedAt: Date.parse(updatedAt),
    labels: foldLabels(labels),
  }));
  await store.noteRead(leads);
  const position = clock.now();
  const items = list.items.map((lead) => toChanged({ number: Number(lead.id), position }, lead));
  walked.set(list, items);
  return items;
}

async function readChanges(
  deps: ReadFeedDeps,
  { place, removedUpTo }: FeedPosition,
  { limit, visibility }: { limit: number; visibility: Visibility },
): Promise<FeedStep> {
  const labels = foldLabels(visibility.labels);
  const end = (await deps.store.end()) ?? place;
  const changes = await deps.store.changesAfter(place, { labels, limit });
  const read = await readInOrder(deps, changes, visibility);
  const entries = read.done
    .filter(({ change, item }) => item.type === 'lead.changed' || !isSent(change, removedUpTo))
    .map(({ change, item }) => ({ item, position: toPosition(placeOf(change), removedUpTo) }));
  const lastRead = read.done.at(-1);
  const last = lastRead ? placeOf(lastRead.change) : place;
  const next = toPosition(last, removedUpTo);
  if (read.isFull) return { entries, next, hasMore: true, isWaiting: false };
  if (read.done.length < changes.length) {
    const rest = changes.slice(read.done.length);
    const all = [...entries, ...removalsAlone(rest, next)];
    if (all.length === 0 && read.error !== undefined) throw read.error;
    return { entries: all, next: all.at(-1)?.position ?? next, hasMore: true, isWaiting: true };
  }
  const hasMore = changes.length === limit;
  const isAtEnd = !hasMore && isBehind(end, last);
  return { entries, next: { place: isAtEnd ? end : last }, hasMore, isWaiting: false };
}

/** The removals among changes whose first one cannot be read yet. */
function removalsAlone(
  changes: readonly LeadChange[],
  { place, removedUpTo }: FeedPosition,
): FeedEntry[] {
  return changes
    .filter((change) => !change.isVisible && !isSent(change, removedUpTo))
    .map((change) => ({
      item: toRemoved(change),
      position: { place, removedUpTo: placeOf(change) },
    }));
}

function isSent(change: LeadChange, removedUpTo: FeedPlace | undefined): boolean {
  return removedUpTo !== undefined && isBehind(removedUpTo, placeOf(change));
}

function toPosition(place: FeedPlace, removedUpTo: FeedPlace | undefined): FeedPosition {
  const isBeyond = removedUpTo !== undefined && isBehind(removedUpTo, place);
  return { place, ...(isBeyond && { removedUpTo }) };
}

type Read = { change: LeadChange; item: FeedItem };

/** Items until the page is full, or until the first that cannot be told yet; `error` is why. */
async function readInOrder(
  deps: ReadFeedDeps,
  changes: readonly LeadChange[],
  visibility: Visibility,
): Promise<{ done: Read[]; isFull?: boolean; error?: unknown }> {
  const done: Read[] = [];
  let bytes = 0;
  for (let at = 0; at < changes.length; at += READ_AT_ONCE) {
    const some = changes.slice(at, at + READ_AT_ONCE);
    const items = await Promise.allSettled(some.map((one) => toItem(deps, one, visibility)));
    for (const [index, change] of some.entries()) {
      const result = items[index];
      if (result?.status === 'rejected') {
        if (!isTrackerFault(result.reason)) throw result.reason;
        return { done, error: result.reason };
      }
      const item = result?.value;
      if (item === undefined) return { done };
      bytes += bytesOfItem(item);
      if (bytes > PAGE_BYTES_MAX && done.length > 0) return { done, isFull: true };
      done.push({ change, item });
    }
  }
  return { done };
}

/** Undefined: not yet. */
async function toItem(
  deps: ReadFeedDeps,
  change: LeadChange,
  visibility: Visibility,
): Promise<FeedItem | undefined> {
  const wanted = foldLabels(visibility.labels);
  if (!change.isVisible || !wanted.every((label) => change.labels.includes(label)))
    return toRemoved(change);
  const lead = await readLiveLead(deps, change, visibility);
  if (lead === 'later') return undefined;
  return lead === 'gone' ? toRemoved(change) : toChanged(change, lead);
}

function toChanged(
  { number, position }: Pick<LeadChange, 'number' | 'position'>,
  lead: Lead,
): FeedItem {
  return { type: 'lead.changed', id: String(number), at: toRfc3339(position), lead };
}

function toRemoved({ number, position }: LeadChange): FeedItem {
  return { type: 'lead.removed', id: String(number), at: toRfc3339(position) };
}

function placeOf({ position, number }: LeadChange): FeedPlace {
  return [position, number];
}

/** Whether `place` is at or before `limit`. */
function isBehind(limit: FeedPlace, place: FeedPlace): boolean {
  return place[0] < limit[0] || (place[0] === limit[0] && place[1] <= limit[1]);
}
