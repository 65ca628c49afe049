import type { FollowerNote } from '#leads/lead-feed/followers.ts';
import type { LeadChange } from '#leads/lead-feed/lead-change.ts';
import { type InstanceChange, noOthers } from '#leads/instance-changes.ts';
import type { DirectoryStore } from '#leads/lead-store.ts';
import type { LeadRules } from '#leads/model/lead.ts';
import type { Lead } from '#leads/model/lead-out.ts';
import type { LeadListQuery, Visibility } from '#leads/model/lead-query.ts';
import type { Database } from '#shared/database.ts';
import { claimLeads, leadRules, REPOSITORY } from '../support/directory.ts';
import { openWorld, type WorldOptions } from '../support/world.ts';
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
  /** Position at which its era begins. */
  era?: number;
  changesAfter?: (position: number, limit: number) => readonly LeadChange[];
  reader?: FollowerNote | undefined;
  listen?: Database['listen'];
};

/** A store that has a lead feed alone, and keeps nothing. */
export function storeOfFeed(feed: FakeFeed = {}): DirectoryStore {
  const { end, era, changesAfter, reader, listen } = feed;
  const db = {
    all: async (_sql: string, { position, limit }: { position?: number; limit?: number }) => {
      if (position === undefined || limit === undefined) return [];
      return (changesAfter?.(position, limit) ?? []).map(toRow);
    },
    get: async (_sql: string, values: object) => {
      if ('consumerId' in values) return reader;
      const last = end?.();
      const position = 'number' in values ? era : last;
      return last === undefined || position === undefined ? undefined : { position };
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

type Options = WorldOptions['leads'] & {
  feed?: FakeFeed;
  clock?: FakeClock;
  tracker?: FakeTracker;
};

export type World = ReturnType<typeof createWorld>;

/** Leads on a fake tracker. */
export function createWorld({ feed, clock = createFakeClock(), ...options }: Options = {}) {
  const { tracker = createFakeTracker(clock), instanceChanges = noOthers } = options;
  let hearFromOthers: (change: InstanceChange) => void = () => undefined;
  const { database, leads } = openWorld({
    clock,
    leads: {
      rules,
      ...(feed && { store: storeOfFeed(feed) }),
      ...options,
      tracker,
      instanceChanges: {
        ...instanceChanges,
        follow: (listener) => {
          hearFromOthers = listener.onChange;
          return instanceChanges.follow(listener);
        },
      },
    },
  });
  const followed = leads.followOthers();
  const list = (query: Partial<LeadListQuery> = {}, visibility = everybody) =>
    leads.reader.list({ limit: 50, labels: [], ...query }, visibility);
  return {
    database,
    clock,
    tracker,
    leads,
    /** Resolves when it hears what other instances publish. */
    followed,
    /** Another instance has published it. */
    hearFromOthers: (change: InstanceChange) => hearFromOthers(change),
    claim: (number: number) => claimLeads(database, { numbers: [number], event: number }),
    list,
    ids: async (query?: Partial<LeadListQuery>) =>
      (await list(query)).value.items.map((lead) => lead.id),
    walk: async (query: Partial<LeadListQuery> = {}, between = () => undefined) => {
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
