import { DAY, MINUTE, toRfc3339 } from '#shared/clock.ts';
import { foldLabels } from '#shared/text/labels.ts';
import { type Lead, type LeadList, leadDigestOf, renderLead } from '../model/lead-out.ts';
import type { Visibility } from '../model/lead-query.ts';
import { isTrackerFault } from '../reading/confirmed-cache.ts';
import type { FeedPosition, ListPlace } from './feed-cursors.ts';
import { bytesOfItem, type FeedItem } from './feed-item.ts';
import { changeFor, type LeadChange } from './lead-change.ts';
import { type LiveLeads, readLiveLead, refuseStale } from './live-lead.ts';
import { type FeedPlace, noteReadLeads, readChangesAfter } from './stored-changes.ts';

/** The feed of all readers: the store's changes, and the leads as they are now. */
export type Feed = LiveLeads & {
  /** The place behind all changes. @throws {store-unavailable} */
  readEnd: () => Promise<FeedPlace | undefined>;
  /** Pages of the lead list that were noted as read, and their items. */
  walked: WeakMap<LeadList, readonly WalkedLead[]>;
  /** Makes sure that the store knows the repository. @throws {tracker-unavailable} */
  identify: () => Promise<void>;
};

/** A lead of the list as an item, its place there, and the position of a change that tells the same. */
type WalkedLead = { item: FeedItem; at: ListPlace; shownAt?: number };

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
/** Leads that are read at the same time. */
const READ_AT_ONCE = 8;
/** A cursor has room for so many. */
const SHOWN_MAX = 100;
/** Changes among which those for a reader with a grant by labels are found in one turn: most may not concern it. */
const CANDIDATES_MAX = 2000;
/** Bytes of the leads of a page at most; one that is longer comes alone. */
const PAGE_BYTES_MAX = 1024 * 1024;

/** Number of the leads, from the first on, that a page has room for. */
function countFitting(leads: readonly Lead[]): number {
  let bytes = 0;
  const over = leads.findIndex((lead) => (bytes += renderLead(lead).length) > PAGE_BYTES_MAX);
  return over === -1 ? leads.length : Math.max(1, over);
}

/**
 * Begins behind all changes of now, or with the lead list, and before it by the age of what is cached. A lead that
 * nobody touched for a day is no change when a crawl meets it.
 * @throws {tracker-unavailable} @throws {store-unavailable}
 */
export async function beginFeed(
  { cache, clock, readEnd }: Feed,
  { fromStart }: { fromStart: boolean },
): Promise<FeedPosition> {
  const end = (await readEnd()) ?? [0, 0];
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
  feed: Feed,
  position: FeedPosition,
  request: { limit: number; visibility: Visibility },
): Promise<FeedStep> {
  return position.walk === undefined
    ? readChanges(feed, position, request)
    : walkList(feed, { ...position, walk: position.walk }, request);
}

async function walkList(
  feed: Feed,
  { place, walk: cursor, walkedTo, shown: before = [] }: FeedPosition & { walk: string },
  { limit, visibility }: { limit: number; visibility: Visibility },
): Promise<FeedStep> {
  const start = cursor === '' ? { state: 'all' as const } : { cursor };
  const list = (most: number) =>
    feed.reader.list({ limit: most, labels: [], ...start }, visibility);
  const whole = await list(Math.min(limit, LIST_LIMIT_MAX));
  const fitting = countFitting(whole.value.items);
  const isCut = fitting < whole.value.items.length;
  const { value, cache } = isCut ? await list(fitting) : whole;
  refuseStale(cache);
  const { nextCursor } = value.pagination;
  const leads = feed.walked.get(value) ?? (await noteWalked(feed, value));
  const rest = leads.filter(({ at }) => !walkedTo || !isBehind(at, walkedTo));
  let shown = before;
  const entries = rest.map(({ item, at, shownAt }): FeedEntry => {
    const change = shownAt !== undefined && ([shownAt, at[1]] as const);
    if (change && !isBehind(place, change)) shown = [...shown, change].slice(0, SHOWN_MAX);
    return { item, position: { place, walk: cursor, walkedTo: at, shown } };
  });
  const next = {
    place,
    ...(nextCursor !== undefined && { walk: nextCursor }),
    ...(walkedTo && rest.length === 0 && { walkedTo }),
    shown,
  };
  const last = entries.at(-1);
  if (last) last.position = next;
  return { entries, next, hasMore: true, isWaiting: false };
}

async function noteWalked(
  { store, clock, walked, directoryKey }: Feed,
  list: LeadList,
): Promise<readonly WalkedLead[]> {
  const leads = list.items.map((lead) => ({
    number: Number(lead.id),
    updatedAt: Date.parse(lead.updatedAt),
    labels: foldLabels(lead.labels),
    leadDigest: leadDigestOf(directoryKey, lead),
  }));
  const positions = await noteReadLeads(store, leads);
  const position = clock.now();
  const page = list.items.map((lead) => {
    const number = Number(lead.id);
    const at = [Date.parse(lead.createdAt), number] as const;
    return { item: toChanged({ number, position }, lead), at, shownAt: positions.get(number) };
  });
  walked.set(list, page);
  return page;
}

async function readChanges(
  feed: Feed,
  from: FeedPosition,
  { limit, visibility }: { limit: number; visibility: Visibility },
): Promise<FeedStep> {
  const { place, removedUpTo } = from;
  const end = (await feed.readEnd()) ?? place;
  const found = await findChanges(feed, from, { limit, visibility });
  const { changes } = found;
  const read = await readInOrder(feed, changes, visibility);
  const done = withPositions(from, read.done);
  const entries = done
    .filter(({ change }) => change.leftAt === undefined || !isSent(change, removedUpTo))
    .map(({ item, position }) => ({ item, position }));
  const last = done.at(-1);
  const next = last ? last.position : goOn(from, place);
  if (read.isFull) return { entries, next, hasMore: true, isWaiting: false };
  if (read.done.length < changes.length) {
    const rest = changes.slice(read.done.length);
    const all = [...entries, ...removalsAlone(rest, next)];
    if (all.length === 0 && read.error !== undefined) throw read.error;
    return { entries: all, next: all.at(-1)?.position ?? next, hasMore: true, isWaiting: true };
  }
  const isAtEnd = !found.hasMore && isBehind(end, found.upTo);
  const behind = goOn(
    { ...from, shown: next.shown, removedUpTo: undefined },
    isAtEnd ? end : found.upTo,
  );
  if (!found.hasMore) delete behind.since;
  return { entries, next: behind, hasMore: found.hasMore, isWaiting: false };
}

/** A change as this reader is told it. */
type Told = Pick<LeadChange, 'number' | 'position' | 'updatedAt' | 'labels' | 'leadDigest'> & {
  /** The reader cannot read it any more since then. */
  leftAt?: number;
};

/** The next changes that concern a reader, and up to where they were looked for. */
async function findChanges(
  { store }: Feed,
  { place, since = place, shown = [] }: FeedPosition,
  { limit, visibility }: { limit: number; visibility: Visibility },
): Promise<{ changes: readonly Told[]; upTo: FeedPlace; hasMore: boolean }> {
  const labels = foldLabels(visibility.labels);
  const most = labels.length > 0 ? CANDIDATES_MAX : limit;
  const rows = await readChangesAfter(store, place, most);
  const isShown = ({ number, position }: LeadChange, from: number) =>
    shown.some((one) => one[1] === number && one[0] >= from && one[0] <= position);
  const all = rows.flatMap((row) => {
    const change = changeFor(row, labels);
    // A reader that is past that place has been told.
    if (!change || isBehind(since, [change.at, row.number]) || isShown(row, change.at)) return [];
    return { ...row, ...(change.hasLeft && { leftAt: change.at }) };
  });
  const changes = all.slice(0, limit);
  const isCut = changes.length < all.length;
  const last = isCut ? changes.at(-1) : rows.at(-1);
  const hasMore = isCut || rows.length === most;
  return { changes, upTo: last ? placeOf(last) : place, hasMore };
}

/** The reader's position behind `place`. */
function goOn(from: FeedPosition, place: FeedPlace): FeedPosition {
  const { removedUpTo, shown = [], since = from.place } = from;
  const left = shown.filter((one) => !isBehind(place, one));
  return { ...toPosition(place, removedUpTo), since, ...(left.length > 0 && { shown: left }) };
}

/** The removals among changes whose first one cannot be read yet. */
function removalsAlone(
  changes: readonly Told[],
  { removedUpTo, ...from }: FeedPosition,
): FeedEntry[] {
  return changes
    .filter((change) => change.leftAt !== undefined && !isSent(change, removedUpTo))
    .map((change) => ({
      item: toRemoved(change),
      position: { ...from, removedUpTo: placeOf(change) },
    }));
}

function isSent(change: Told, removedUpTo: FeedPlace | undefined): boolean {
  return removedUpTo !== undefined && isBehind(removedUpTo, placeOf(change));
}

function toPosition(place: FeedPlace, removedUpTo: FeedPlace | undefined): FeedPosition {
  const isBeyond = removedUpTo !== undefined && isBehind(removedUpTo, place);
  return { place, ...(isBeyond && { removedUpTo }) };
}

/** `shownAt`: the position of a newer change that tells the same. */
type Read = { change: Told; item: FeedItem; shownAt?: number };

/** Each with where a reader goes on that has it, and those before it. */
function withPositions(
  from: FeedPosition,
  reads: readonly Read[],
): (Read & { position: FeedPosition })[] {
  let { shown = [] } = from;
  return reads.map((read) => {
    const { change, shownAt } = read;
    if (shownAt !== undefined) shown = [...shown, [shownAt, change.number] as const];
    return {
      ...read,
      position: goOn({ ...from, shown: shown.slice(-SHOWN_MAX) }, placeOf(change)),
    };
  });
}

/** Items until the page is full, or until the first that cannot be told yet; `error` is why. */
async function readInOrder(
  feed: Feed,
  changes: readonly Told[],
  visibility: Visibility,
): Promise<{ done: Read[]; isFull?: boolean; error?: unknown }> {
  const done: Read[] = [];
  let bytes = 0;
  for (let at = 0; at < changes.length; at += READ_AT_ONCE) {
    const some = changes.slice(at, at + READ_AT_ONCE);
    for (const result of await Promise.allSettled(
      some.map((one) => readChange(feed, one, visibility)),
    )) {
      if (result.status === 'rejected') {
        if (!isTrackerFault(result.reason)) throw result.reason;
        return { done, error: result.reason };
      }
      const { value } = result;
      if (value === undefined) return { done };
      bytes += bytesOfItem(value.item);
      if (bytes > PAGE_BYTES_MAX && done.length > 0) return { done, isFull: true };
      done.push(value);
    }
  }
  return { done };
}

/** Undefined: not yet. */
async function readChange(
  feed: Feed,
  change: Told,
  visibility: Visibility,
): Promise<Read | undefined> {
  if (change.leftAt !== undefined) return { change, item: toRemoved(change) };
  const live = await readLiveLead(feed, change, visibility);
  if (!live) return undefined;
  const item = live.lead ? toChanged(change, live.lead) : toRemoved(change);
  return { change, item, shownAt: live.shownAt };
}

function toChanged({ number, position }: Pick<Told, 'number' | 'position'>, lead: Lead): FeedItem {
  return { type: 'lead.changed', id: String(number), at: toRfc3339(position), lead };
}

function toRemoved({ number, position, leftAt = position }: Told): FeedItem {
  return { type: 'lead.removed', id: String(number), at: toRfc3339(leftAt) };
}

function placeOf({ position, number }: LeadChange | Told): FeedPlace {
  return [position, number];
}

/** True when `place` is at or before `limit`. */
function isBehind(limit: FeedPlace, place: FeedPlace): boolean {
  return place[0] < limit[0] || (place[0] === limit[0] && place[1] <= limit[1]);
}
