import { createLimiter } from '#access/limit.ts';
import type { ConsumerPrincipal } from '#access/keys/authenticate-key.ts';
import type { Access } from '#access/index.ts';
import type { CacheStatus, LeadReader } from '#leads/reading/lead-reader.ts';
import type { Lead, LeadList } from '#leads/model/lead-out.ts';
import type { LeadListQuery, Visibility } from '#leads/model/lead-query.ts';
import { systemClock } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';

export const GOOD_KEY = 'tpk_good';
/** Authenticates, but has no grant. */
export const KEY_WITHOUT_GRANT = 'tpk_nogrant';
export const withKey = { 'x-api-key': GOOD_KEY };

export const someLead: Lead = {
  id: '7',
  title: 'Ada asks for a demo',
  state: 'open',
  labels: ['approved'],
  createdAt: '2026-03-01T10:00:00Z',
  updatedAt: '2026-03-01T11:00:00Z',
  contact: { email: 'ada@example.com' },
  connect: {},
};

export const someList: LeadList = {
  items: [someLead],
  pagination: { hasMore: true, nextCursor: 'next-1' },
};

export const freshHit: CacheStatus = { outcome: 'hit', ageMs: 3999, ttlMs: 11_001 };

export type FakeLeads = {
  access: Pick<Access, 'authenticate' | 'countCall'>;
  leads: { reader: LeadReader };
  /** Every list query that reached the reader, with what the consumer may see. */
  received: { query: LeadListQuery; visibility: Visibility }[];
  read: string[];
};

export type FakeResponses = {
  list?: LeadList;
  lead?: Lead;
  cache?: CacheStatus;
  failure?: Error;
  limitPerMinute?: number;
};

/** Lead services that return what the test says and record what they were given. */
export function fakeLeads(responses: FakeResponses = {}): FakeLeads {
  const { list = someList, lead = someLead, cache = freshHit, failure } = responses;
  const { limitPerMinute = 600 } = responses;
  const limiter = createLimiter(systemClock);
  const fake: Pick<FakeLeads, 'received' | 'read'> = { received: [], read: [] };
  return {
    ...fake,
    leads: {
      reader: {
        list: async (query, visibility) => {
          fake.received.push({ query, visibility });
          if (failure) throw failure;
          return { value: list, cache };
        },
        read: async (id) => {
          fake.read.push(id);
          if (failure) throw failure;
          return { value: lead, cache };
        },
      },
    },
    access: {
      authenticate: async (key) => principalOf(key),
      countCall: ({ consumerId }) => limiter.take(consumerId, limitPerMinute),
    },
  };
}

function principalOf(key: string | undefined): ConsumerPrincipal {
  const principal = { consumerId: 'consumer-1', keyId: 'key-1' };
  if (key === GOOD_KEY)
    return { ...principal, grants: [{ action: 'leads:read' }] } as unknown as ConsumerPrincipal;
  if (key === KEY_WITHOUT_GRANT)
    return { ...principal, grants: [] } as unknown as ConsumerPrincipal;
  throw new TrackportError('unauthorized', { detail: 'Send a key.', challenge: 'ApiKey' });
}
