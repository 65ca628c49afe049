import { LRUCache } from 'lru-cache';
import { atMostEntries } from '#shared/caching.ts';
import { type Clock, SECOND } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import { type CircuitBreaker, createCircuitBreaker } from '#shared/resilience/backoff.ts';
import { type CallPolicy, TRACKER_BACKOFF } from './call-policy.ts';

/** The age of an entry, and doubts about it; instants are in ms of the monotonic clock. */
export type Confirmed = { confirmedAt: number; isLagging: boolean; isInvalidated: boolean };

/** A response that lags behind a known event is asked for again after this. */
const LAGGING_FRESH_MS = SECOND;

/**
 * The use to make of an entry. `fresh`: serve it. `changed`: an event contradicts it, or it lags behind
 * one. `expired`: too old. `missing`: there is none.
 */
type Use = 'fresh' | 'changed' | 'expired' | 'missing';

/** The moment, and the time for which a response stays fresh then; both in ms. */
type Freshness = { now: number; freshForMs: number };

/** Decides by the entry's age and what events said of it. */
export function decideUse(cached: Confirmed | undefined, freshness: Freshness): Use {
  if (!cached) return 'missing';
  if (cached.isInvalidated) return 'changed';
  if (cached.isLagging && freshness.now - cached.confirmedAt >= LAGGING_FRESH_MS) return 'changed';
  return ttlMsOf(cached, freshness) > 0 ? 'fresh' : 'expired';
}

/** Milliseconds until the entry stops being fresh; 0 or less when it is not. */
export function ttlMsOf(
  { confirmedAt, isLagging, isInvalidated }: Confirmed,
  { now, freshForMs }: Freshness,
): number {
  const lifetimeMs = isLagging ? Math.min(LAGGING_FRESH_MS, freshForMs) : freshForMs;
  const ttlMs = lifetimeMs - (now - confirmedAt);
  return isInvalidated ? Math.min(0, ttlMs) : ttlMs;
}

/** Something the tracker said, and when it last confirmed that it still holds. */
export type Entry<T> = {
  readonly value: T;
  /** Opaque; asks the tracker "changed since?". */
  readonly validator?: string;
  /** Start of the call that confirmed it, in ms of the monotonic clock. */
  readonly confirmedAt: number;
  /** The response seems older than an event already known: worth a second only. */
  readonly isLagging: boolean;
  /** An event said that it changed. */
  isInvalidated: boolean;
};

/** The result of a load: a new value, or the old one (perhaps with a new cursor). */
export type Loaded<T> = { value: T; validator?: string };

/** Loads one key. */
export type Source<T> = {
  key: string;
  /** `cached` is what the cache has, however old. */
  load(cached: Entry<T> | undefined): Promise<Loaded<T>>;
  /** True when the value is older than an event already known. */
  isLagging(value: T): boolean;
};

export type CacheResult<T> = { entry: Entry<T>; outcome: 'hit' | 'miss' | 'stale' };

/** A cache whose entries are confirmed by conditional calls rather than thrown away. */
export type ConfirmedCache<T> = {
  /**
   * The value, fresh, or stale while the tracker fails. Identical loads share one call.
   * @throws {tracker-failed} @throws {tracker-unavailable} when nothing usable is cached
   */
  get(source: Source<T>): Promise<CacheResult<T>>;
  /** The entry, only when it is fresh. No call. */
  peek(key: string): Entry<T> | undefined;
  /** The entry, as long as it may serve while the tracker fails. No call. */
  lastGood(key: string): Entry<T> | undefined;
  /**
   * Marks the entries that `affects` as changed, without calling it for those that are marked already; loads in
   * flight are not trusted afterwards. Not those that were asked for since `before`, in ms of the monotonic clock.
   */
  invalidate(affects: (value: T) => boolean, before?: number): void;
  /** Marks one entry as changed, and the load of it that is in flight. */
  invalidateKey(key: string, before?: number): void;
  /** Stores what the tracker told unasked, as it was at `confirmedAt`. */
  put(key: string, value: T, confirmedAt: number): void;
  /** Time for which a response stays fresh now: longer while the quota runs low. */
  readonly freshForMs: number;
  readonly bytes: number;
};

type ConfirmedCacheOptions<T> = {
  clock: Clock;
  calls: CallPolicy;
  freshForMs: number;
  /** Counted from the end of `freshForMs`. */
  staleIfErrorMs: number;
  bytesMax: number;
  sizeOf(value: T): number;
  onStore?(key: string, value: T): void;
  onDrop?(key: string, value: T): void;
};

/** Under a storm of events a key is loaded at most once in this time. */
const STORM_INTERVAL_MS = SECOND;

/** One load under way. `isTainted`: an event came after the call was sent. */
type Flight<T> = {
  startedAt: number;
  isSent: boolean;
  isTainted: boolean;
  result?: Promise<CacheResult<T>>;
};

type CacheState<T> = {
  options: ConfirmedCacheOptions<T>;
  entries: LRUCache<string, Entry<T>>;
  flights: Map<string, Flight<T>>;
  /** Earliest start of a key's next load because of an event, ms. */
  turns: LRUCache<string, number>;
  /** Of keys whose responses cannot be understood: they serve their last good value without a call. */
  breakers: LRUCache<string, CircuitBreaker>;
};

/** @see RFC 9111 for the idea of validation, RFC 5861 section 4 for stale-if-error. */
export function createConfirmedCache<T>(options: ConfirmedCacheOptions<T>): ConfirmedCache<T> {
  const state: CacheState<T> = {
    options,
    entries: new LRUCache<string, Entry<T>>({
      maxSize: options.bytesMax,
      sizeCalculation: (entry, key) => options.sizeOf(entry.value) + key.length * 2 + 200,
      onInsert: (entry, key) => options.onStore?.(key, entry.value),
      dispose: (entry, key) => options.onDrop?.(key, entry.value),
    }),
    flights: new Map(),
    turns: new LRUCache(atMostEntries(10_000)),
    breakers: new LRUCache(atMostEntries(10_000)),
  };
  return {
    get: async (source) => get(state, source),
    peek: (key) => {
      const cached = state.entries.get(key);
      return useOf(state, cached) === 'fresh' ? cached : undefined;
    },
    lastGood: (key) => {
      const cached = state.entries.get(key);
      return cached && mayServeStale(options, cached) ? cached : undefined;
    },
    invalidate: (affects, before = Infinity) => {
      for (const entry of state.entries.values())
        if (!entry.isInvalidated && entry.confirmedAt < before && affects(entry.value))
          entry.isInvalidated = true;
      for (const flight of state.flights.values()) taint(flight, before);
    },
    invalidateKey: (key, before = Infinity) => {
      const entry = state.entries.peek(key);
      if (entry && entry.confirmedAt < before) entry.isInvalidated = true;
      taint(state.flights.get(key), before);
    },
    put: (key, value, confirmedAt) => {
      state.entries.set(key, { value, confirmedAt, isLagging: false, isInvalidated: false });
    },
    get freshForMs() {
      return options.calls.stretch(options.freshForMs);
    },
    get bytes() {
      return state.entries.calculatedSize;
    },
  };
}

function taint(flight: Flight<unknown> | undefined, before: number): void {
  if (flight?.isSent && flight.startedAt < before) flight.isTainted = true;
}

function useOf<T>({ options }: CacheState<T>, cached: Entry<T> | undefined): Use {
  const freshForMs = options.calls.stretch(options.freshForMs);
  return decideUse(cached, { now: options.clock.monotonicMs(), freshForMs });
}

function get<T>(state: CacheState<T>, source: Source<T>): CacheResult<T> | Promise<CacheResult<T>> {
  const cached = state.entries.get(source.key);
  const use = useOf(state, cached);
  if (cached && use === 'fresh') return { entry: cached, outcome: 'hit' };
  const isBroken = cached && (state.breakers.get(source.key)?.waitMs() ?? 0) > 0;
  if (isBroken && mayServeStale(state.options, cached)) return { entry: cached, outcome: 'stale' };
  const flying = state.flights.get(source.key);
  if (flying?.result && !flying.isTainted) return flying.result;
  return launch(state, source, use === 'changed');
}

function launch<T>(
  state: CacheState<T>,
  source: Source<T>,
  isForced: boolean,
): Promise<CacheResult<T>> {
  const flight: Flight<T> = {
    startedAt: state.options.clock.monotonicMs(),
    isSent: false,
    isTainted: false,
  };
  state.flights.set(source.key, flight);
  flight.result = fly(state, { source, flight, isForced }).finally(() => {
    if (state.flights.get(source.key) === flight) state.flights.delete(source.key);
  });
  return flight.result;
}

async function fly<T>(
  state: CacheState<T>,
  { source, flight, isForced }: { source: Source<T>; flight: Flight<T>; isForced: boolean },
): Promise<CacheResult<T>> {
  const { clock, calls } = state.options;
  if (isForced && calls.isAllowed()) await waitForTurn(state, source.key);
  const cached = state.entries.get(source.key);
  try {
    const loaded = await calls.run(() => {
      flight.isSent = true;
      flight.startedAt = clock.monotonicMs();
      return source.load(cached);
    });
    state.breakers.delete(source.key);
    return { entry: store(state, { source, flight, loaded }), outcome: 'miss' };
  } catch (error) {
    if (!cached || !isTrackerFault(error) || !mayServeStale(state.options, cached)) throw error;
    if (isTrackportError(error, 'tracker-failed')) noteNonsense(state, source.key);
    return { entry: cached, outcome: 'stale' };
  }
}

/** Nonsense says nothing about other keys, so that the breaker of the whole tracker leaves it out. */
function noteNonsense<T>({ options: { clock }, breakers }: CacheState<T>, key: string): void {
  const breaker = breakers.get(key) ?? createCircuitBreaker({ clock, schedule: TRACKER_BACKOFF });
  breaker.noteFailure();
  breakers.set(key, breaker);
}

/** Under a storm of events readers wait for the next turn rather than see what an event refuted. */
async function waitForTurn<T>(
  { options: { clock }, turns }: CacheState<T>,
  key: string,
): Promise<void> {
  const turnAt = Math.max(clock.monotonicMs(), turns.get(key) ?? 0);
  turns.set(key, turnAt + STORM_INTERVAL_MS);
  await clock.sleep(turnAt - clock.monotonicMs());
}

/** The response to an older request never replaces that to a newer one, nor one that is refuted one that is not. */
function store<T>(
  { entries }: CacheState<T>,
  { source, flight, loaded }: { source: Source<T>; flight: Flight<T>; loaded: Loaded<T> },
): Entry<T> {
  const entry: Entry<T> = {
    value: loaded.value,
    validator: loaded.validator,
    confirmedAt: flight.startedAt,
    isLagging: source.isLagging(loaded.value),
    isInvalidated: flight.isTainted,
  };
  const cached = entries.get(source.key);
  const isRefuted = entry.isInvalidated && cached?.isInvalidated === false;
  if (!cached || (cached.confirmedAt <= entry.confirmedAt && !isRefuted))
    entries.set(source.key, entry);
  return entry;
}

function mayServeStale<T>(
  { clock, freshForMs, staleIfErrorMs }: ConfirmedCacheOptions<T>,
  cached: Entry<T>,
): boolean {
  return clock.monotonicMs() < cached.confirmedAt + freshForMs + staleIfErrorMs;
}

/** True for what the last good value may stand in for. */
export function isTrackerFault(error: unknown): boolean {
  return (
    isTrackportError(error, 'tracker-failed') || isTrackportError(error, 'tracker-unavailable')
  );
}
