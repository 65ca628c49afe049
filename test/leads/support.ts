import { silentLog } from '#shared/log.ts';
import { createLeads, type Leads } from '#leads/index.ts';
import type { Claims } from '#leads/claims/claim-view.ts';
import type { FeedReader } from '#leads/lead-feed/read-changes.ts';
import type { LeadChange } from '#leads/lead-feed/lead-change.ts';
import type { InstanceChange } from '#leads/instance-changes/change-log.ts';
import { noOthers } from '#leads/instance-changes/instance-changes.ts';
import type { DirectoryStore } from '#leads/lead-store.ts';
import type { LeadRules } from '#leads/model/lead.ts';
import type { Lead } from '#leads/model/lead-out.ts';
import type { LeadListQuery, Visibility } from '#leads/reading/prepared-query.ts';
import { createCursorSealer } from '#shared/pagination/page.ts';

import type { Database } from '#shared/database.ts';
import { leadRules, REPOSITORY } from '../support/directory.ts';
import { createFakeClock, type FakeClock } from '../support/clock.ts';
import { createFakeTracker, type FakeTracker } from './fake-tracker.ts';

export const form = [
  { name: 'firstName', heading: 'First name', multiline: false },
  { name: 'email', heading: 'Email', multiline: false },
  { name: 'company', heading: 'Company', multiline: false },
  { name: 'interest', heading: 'Interest', multiline: false },
  { name: 'message', heading: 'Message', multiline: true },
  { name: 'sourcePage', heading: 'Source page', multiline: false },
];

export const rules: LeadRules = { ...leadRules, form };

export const everybody: Visibility = { consumerId: 'c1', labels: [] };

/** A lead feed as a test has it. Default: nothing ever changed, and nobody reads. */
type FakeFeed = {
  /** The position of the last change. */
  end?: () => number | undefined;
  changesAfter?: (position: number, limit: number) => readonly LeadChange[];
  reader?: FeedReader | undefined;
  listen?: Database['listen'];
};

/** A store that has a lead feed alone, and keeps nothing. */
export function storeOfFeed({ end, changesAfter, reader, listen }: FakeFeed = {}): DirectoryStore {
  const db = {
    all: async (_sql: string, { position, limit }: { position?: number; limit?: number }) => {
      if (position === undefined || limit === undefined) return [];
      return (changesAfter?.(position, limit) ?? []).map(toRow);
    },
    get: async (_sql: string, values: object) => {
      if ('consumerId' in values) return reader;
      const isOfLead = 'number' in values;
      const position = end?.();
      return isOfLead || position === undefined ? undefined : { position };
    },
    run: async () => 1,
    transaction: async () => undefined,
    exclusive: async () => undefined,
    listen: listen ?? (() => ({ close: async () => undefined })),
  } as Partial<Database> as Database;
  return {
    db,
    repository: REPOSITORY,
    clock: { now: () => 0 },
    claimLearnt: async () => undefined,
  };
}

function toRow({ labels, carried, ...change }: LeadChange): object {
  return { ...change, labels: JSON.stringify(labels), carried: JSON.stringify(carried) };
}

/** A directory that keeps nothing. */
const unfilled: LeadsOptions['filler'] = {
  identify: async () => undefined,
  apply: () => undefined,
  settled: async () => undefined,
};

type LeadsOptions = Parameters<typeof createLeads>[0];

export type World = {
  clock: FakeClock;
  tracker: FakeTracker;
  leads: Leads;
  claim(number: number): void;
  release(number: number): void;
  /** Resolves when it hears what other instances publish. */
  followed: Promise<void>;
  /** Another instance has published it. */
  hearFromOthers(change: InstanceChange): void;
  /** Number of reads of the claims. */
  looksAtClaims(): number;
  list(
    query?: Partial<LeadListQuery>,
    visibility?: Visibility,
  ): ReturnType<Leads['reader']['list']>;
  ids(query?: Partial<LeadListQuery>): Promise<string[]>;
  walk(query?: Partial<LeadListQuery>, between?: () => void): Promise<Lead[]>;
};

export function createWorld(
  options: {
    freshForMs?: number;
    cacheBytesMax?: number;
    rules?: LeadRules;
    feed?: FakeFeed;
    clock?: FakeClock;
    tracker?: FakeTracker;
  } & Partial<Pick<LeadsOptions, 'filler' | 'instanceChanges' | 'onGap'>> = {},
): World {
  const {
    clock = createFakeClock(),
    filler = unfilled,
    instanceChanges = noOthers,
    onGap,
  } = options;
  const { tracker = createFakeTracker(clock) } = options;
  let hearFromOthers: World['hearFromOthers'] = () => undefined;
  const claimed = new Set<number>();
  let claims: Claims = { has: () => false };
  let looks = 0;
  const leads = createLeads({
    log: silentLog,
    clock,
    tracker,
    claimView: {
      current: () => {
        looks += 1;
        return Promise.resolve(claims);
      },
    },
    filler,
    instanceChanges: {
      ...instanceChanges,
      follow: (listener) => {
        hearFromOthers = listener.onChange;
        return instanceChanges.follow(listener);
      },
    },
    ...(onGap && { onGap }),
    lookKey: Buffer.alloc(32, 8),
    store: storeOfFeed(options.feed),
    cursors: createCursorSealer(Buffer.alloc(32, 7)),
    rules: options.rules ?? rules,
    freshForMs: options.freshForMs ?? 15_000,
    staleIfErrorMs: 3_600_000,
    cacheBytesMax: options.cacheBytesMax ?? 64 * 1024 * 1024,
  });
  const followed = leads.followOthers();
  const list: World['list'] = (query = {}, visibility = everybody) =>
    leads.reader.list({ limit: 50, labels: [], ...query }, visibility);
  const publish = (): void => {
    const now = new Set(claimed);
    claims = { has: (candidate) => now.has(candidate) };
  };
  return {
    clock,
    tracker,
    leads,
    followed,
    hearFromOthers: (change) => hearFromOthers(change),
    looksAtClaims: () => looks,
    claim: (number) => {
      claimed.add(number);
      publish();
    },
    release: (number) => {
      claimed.delete(number);
      publish();
    },
    list,
    ids: async (query) => (await list(query)).value.items.map((lead) => lead.id),
    walk: async (query = {}, between = () => undefined) => {
      const found: Lead[] = [];
      let cursor: string | undefined;
      do {
        const { value } = await list({ ...query, ...(cursor !== undefined && { cursor }) });
        found.push(...value.items);
        cursor = value.pagination.nextCursor;
        if (cursor !== undefined) between();
      } while (cursor !== undefined);
      return found;
    },
  };
}
