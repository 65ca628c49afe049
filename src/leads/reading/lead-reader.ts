import { LRUCache } from 'lru-cache';

import type { Clock } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import {
  refuseCursor,
  sealPage,
  startPage,
  type CursorSealer,
  type ListName,
} from '#shared/page.ts';

import type { CachedLead, CachedPage } from '../cache/cached-page.ts';
import type { Claims, ClaimView } from '../claims.ts';
import type { Got } from '../cache/confirmed-cache.ts';
import { contactLength } from '../model/lead.ts';
import type { LeadCache } from '../cache/lead-cache.ts';
import {
  cursorBinding,
  matchesFilter,
  namedFilters,
  toFilter,
  type LeadFilter,
  type LeadFilters,
} from './lead-query.ts';
import type {
  Answer,
  CacheFacts,
  Lead,
  LeadList,
  LeadListQuery,
  LeadReader,
  Visibility,
} from './lead-reads.ts';
import { walk, type WalkPosition, type WalkStop } from './walk.ts';

export type LeadReaderDeps = {
  cache: LeadCache;
  claims: ClaimView;
  cursors: CursorSealer;
  clock: Clock;
  approvedLabel: string;
  /** Bytes of answers that are kept put together. */
  keptMax: number;
};

/** An answer already put together, good while all that it was made of is. */
type Kept = {
  list: LeadList;
  seen: WalkStop['seen'];
  claims: Claims;
  eventsVersion: number;
};

const CURSOR_KIND = 'leads/2';
const KEPT_OVERHEAD_BYTES = 500;

/** Joins the cache, the walk and the claims; every answer is checked against the claims. */
export function createLeadReader(deps: LeadReaderDeps): LeadReader {
  const kept = new LRUCache<string, Kept>({
    maxSize: deps.keptMax,
    sizeCalculation: ({ list: { items } }, key) => key.length + sizeOfItems(items),
  });
  const listDeps: ListDeps = { ...deps, kept, asked: new WeakMap() };
  return {
    list: (query, visibility) => list(listDeps, query, visibility),
    read: (id, visibility) => read(deps, id, visibility),
  };
}

type ListDeps = LeadReaderDeps & {
  kept: LRUCache<string, Kept>;
  /** By query object, then by consumer: a client that polls asks the same again and again. */
  asked: WeakMap<LeadListQuery, Map<string, Asked>>;
};

/** What is derived of a query and a visibility. */
type Asked = {
  labels: readonly string[];
  list: ListName;
  filters: LeadFilters;
  filter: LeadFilter;
  /** Where the page starts. */
  position: WalkPosition | undefined;
  /** Names the whole answer. */
  key: string;
};

/** @throws {invalid-cursor} */
function ask(
  { asked, cursors, approvedLabel }: ListDeps,
  query: LeadListQuery,
  visibility: Visibility,
): Asked {
  let byConsumer = asked.get(query);
  if (!byConsumer) asked.set(query, (byConsumer = new Map()));
  const known = byConsumer.get(visibility.consumerId);
  if (known?.labels === visibility.labels) return known;
  const list = { kind: CURSOR_KIND, binding: cursorBinding(visibility, approvedLabel) };
  const given = { cursor: query.cursor, filters: namedFilters(query) };
  const { filters, position } = startPage(cursors, list, given);
  const fresh: Asked = {
    labels: visibility.labels,
    list,
    filters,
    filter: toFilter(filters, visibility, approvedLabel),
    position: position === undefined ? undefined : toWalkPosition(position),
    key: JSON.stringify([list.binding, filters, query.limit, query.cursor]),
  };
  byConsumer.set(visibility.consumerId, fresh);
  return fresh;
}

async function list(
  deps: ListDeps,
  query: LeadListQuery,
  visibility: Visibility,
): Promise<Answer<LeadList>> {
  const claims = await deps.claims.current();
  const asked = ask(deps, query, visibility);
  const { filter, position, key } = asked;
  const known = deps.kept.get(key);
  const gots = known && known.claims === claims ? stillFresh(deps.cache, known) : undefined;
  if (known && gots) return { value: known.list, cache: factsOf(deps, gots) };

  const eventsVersion = deps.cache.eventsVersion;
  const stop = await walk(deps.cache, {
    filter,
    limit: query.limit,
    ...(position && { position }),
    isVisible: (row) =>
      !claims.has(row.issue.number) &&
      matchesFilter(row.issue, filter) &&
      deps.cache.stillMatches(row, filter),
  });
  return checked(deps, stop, claims, { query, visibility, asked, eventsVersion });
}

type ListContext = {
  query: LeadListQuery;
  visibility: Visibility;
  asked: Asked;
  eventsVersion: number;
};

/** A claim can be made while the tracker is being asked: the last look is after the last wait. */
async function checked(
  deps: ListDeps,
  stop: WalkStop,
  claims: Claims,
  context: ListContext,
): Promise<Answer<LeadList>> {
  const now = await deps.claims.current();
  if (now !== claims && stop.rows.some((row) => now.has(row.issue.number)))
    return list(deps, context.query, context.visibility);
  const { seen } = stop;
  // The claims that the rows were chosen by: one that was released since must come back.
  const parts: Omit<Kept, 'list'> = { seen, claims, eventsVersion: context.eventsVersion };
  const { asked } = context;
  const known = deps.kept.get(asked.key);
  const value = known && isMadeOf(known, parts) ? known.list : toList(deps, stop, asked);
  deps.kept.set(asked.key, { list: value, ...parts });
  return {
    value,
    cache: factsOf(
      deps,
      seen.map(({ got }) => got),
    ),
  };
}

function toList({ cursors }: LeadReaderDeps, stop: WalkStop, { list, filters }: Asked): LeadList {
  return {
    items: stop.rows.map((row) => row.lead),
    pagination: stop.next
      ? { hasMore: true, nextCursor: sealPage(cursors, list, { filters, position: stop.next }) }
      : { hasMore: false },
  };
}

/** True when the same pages, claims and events would give the same answer. */
function isMadeOf(known: Kept, { seen, claims, eventsVersion }: Omit<Kept, 'list'>): boolean {
  return (
    known.claims === claims &&
    known.eventsVersion === eventsVersion &&
    known.seen.length === seen.length &&
    known.seen.every(({ got }, at) => got.entry.value === seen[at]?.got.entry.value)
  );
}

/** The pages of a kept answer when each is the same as then and fresh; else undefined. */
function stillFresh(cache: LeadCache, known: Kept): Got<CachedPage>[] | undefined {
  if (known.eventsVersion !== cache.eventsVersion) return undefined;
  const gots: Got<CachedPage>[] = [];
  for (const { query, got } of known.seen) {
    const entry = cache.peekPage(query);
    if (entry?.value !== got.entry.value) return undefined;
    gots.push({ entry, outcome: 'hit' });
  }
  return gots;
}

function toWalkPosition(position: unknown): WalkPosition {
  return isPosition(position) ? position : refuseCursor();
}

function isPosition(value: unknown): value is WalkPosition {
  return typeof value === 'object' && value !== null && 'key' in value && Array.isArray(value.key);
}

async function read(
  deps: LeadReaderDeps,
  id: string,
  visibility: Visibility,
): Promise<Answer<Lead>> {
  const number = /^[1-9]\d{0,9}$/.test(id) ? Number(id) : undefined;
  if (number === undefined || (await deps.claims.current()).has(number)) throw notFound();
  const { found, got } = await deps.cache.lead(number);
  if (!found || !isReadable(deps, found, visibility)) throw notFound();
  // Looked at again after a wait, so that a claim made meanwhile counts.
  if (got.outcome !== 'hit' && (await deps.claims.current()).has(number)) throw notFound();
  return { value: found.lead, cache: factsOf(deps, [got]) };
}

function isReadable(deps: LeadReaderDeps, found: CachedLead, visibility: Visibility): boolean {
  if (visibility.labels.length === 0 && deps.cache.isCurrent(found)) return true;
  const filter = toFilter({ state: 'all' }, visibility, deps.approvedLabel);
  return matchesFilter(found.issue, filter) && deps.cache.stillMatches(found, filter);
}

/** Estimated bytes of the items as they are answered. */
function sizeOfItems(items: readonly Lead[]): number {
  return items.reduce(
    (sum, { contact }) => sum + KEPT_OVERHEAD_BYTES + contactLength(contact),
    KEPT_OVERHEAD_BYTES,
  );
}

function notFound(): TrackportError {
  return new TrackportError('lead-not-found', {
    detail: 'There is no lead with this id that you may read.',
  });
}

function factsOf({ clock, cache }: LeadReaderDeps, gots: readonly Got<unknown>[]): CacheFacts {
  let confirmedAt = Infinity;
  let outcome: CacheFacts['outcome'] = 'hit';
  for (const got of gots) {
    confirmedAt = Math.min(confirmedAt, got.entry.confirmedAt);
    if (got.outcome === 'stale' || (got.outcome === 'miss' && outcome === 'hit'))
      outcome = got.outcome;
  }
  const ageMs = Math.max(0, clock.now() - confirmedAt);
  return { outcome, ageMs, ttlMs: cache.freshFor - ageMs };
}
