import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Origin } from '#shared/audit.ts';
import { refuse, TrackportError } from '#shared/errors.ts';
import { type Clock, DAY } from '#shared/clock.ts';
import {
  type CursorSealer,
  type Page,
  type PageRequest,
  type Pagination,
  readPage,
} from '#shared/pagination/page.ts';
import type { Statements } from '#shared/database.ts';
import { type Grant, type GrantInput, parseGrants } from '../grant.ts';
import { type ConsumerWithKey, issueKey } from '../keys/key-rules.ts';
import {
  type Consumer,
  type ConsumerId,
  consumerNotFound,
  type ConsumerStatus,
  foldConsumerName,
  nextExpiry,
  parseConsumerName,
  parseLimitPerMinute,
  refuseRevoked,
  statusAt,
} from './consumer.ts';
import {
  auditEntryOf,
  changeConsumer,
  type AccessStore,
  findConsumer,
  insertConsumer,
  listConsumers,
} from './stored-consumers.ts';

export type CreateConsumerInput = {
  name: string;
  /** Take the name even when another consumer has it. */
  force?: boolean;
  /** Default: none. */
  grants?: readonly GrantInput[];
  limitPerMinute?: number;
  /** Milliseconds until the first key expires, at most 10 years; default: never. */
  expiresInMs?: number;
};

/** A new consumer with its first key. @throws {validation-failed} @throws {store-unavailable} */
export async function createConsumer(
  accessStore: AccessStore,
  input: CreateConsumerInput,
  origin: Origin,
): Promise<ConsumerWithKey> {
  const now = accessStore.clock.now();
  const createdBy = origin.actor.subject;
  const issued = issueKey({ now, createdBy, lifetimeMs: input.expiresInMs });
  const name = parseConsumerName(input.name);
  const grants = parseGrants(input.grants ?? []);
  const limit = {
    ...(input.limitPerMinute !== undefined && {
      limitPerMinute: parseLimitPerMinute(input.limitPerMinute),
    }),
  };
  const consumer: Consumer = {
    id: accessStore.newId() as ConsumerId,
    name,
    state: 'active',
    ...limit,
    grants,
    keys: [issued.stored],
    createdAt: now,
  };
  const { keyId, expiresAt } = issued.stored;
  const changes = { name, grants, ...limit, keyId, expiresAt };
  const audit = auditEntryOf(consumer, origin, { at: now, action: 'consumer.create', changes });
  await insertConsumer(accessStore, { consumer, audit, hasUniqueName: input.force !== true });
  return { consumer, issued };
}

/** @throws {not-found} @throws {store-unavailable} */
export async function readConsumer({ db }: AccessStore, id: string): Promise<Consumer> {
  return (await findConsumer(db, id)) ?? consumerNotFound();
}

/** Whoever may see it sees all of it. */
const CONSUMERS = {
  kind: 'consumers/1',
  binding: '',
  position: z.tuple([z.number(), z.string()]),
};

/** One page of consumers, oldest first. @throws {invalid-cursor} @throws {store-unavailable} */
export async function pageConsumers(
  { db, cursors }: { db: Statements; cursors: CursorSealer },
  page: PageRequest,
): Promise<Page<Consumer>> {
  const request = { ...page, filter: undefined };
  return readPage(cursors, CONSUMERS, request, (range) => listConsumers(db, range));
}

/** Every condition that is given must hold. */
export type ConsumerFilter = {
  /** Part of the name, without regard to case, or of an id, or of a key id. */
  text?: string;
  status?: ConsumerStatus;
  /** A key that works now ends within so many days. */
  endsWithinDays?: number;
};

/** Consumers that are looked at for one page of those that fit. */
const LOOKED_AT_MAX = 2000;
const STEP = 100;

/**
 * One page of the consumers that fit, oldest first. A page may have fewer than `limit` and still more
 * to follow: it looks at 2,000 consumers at most.
 * @throws {invalid-cursor} @throws {store-unavailable}
 */
export async function findConsumers(
  { db, cursors, clock }: { db: Statements; cursors: CursorSealer; clock: Clock },
  { filter, limit, cursor }: PageRequest & { filter: ConsumerFilter },
): Promise<Page<Consumer>> {
  const now = clock.now();
  const items: Consumer[] = [];
  let pagination: Pagination = { hasMore: true, nextCursor: cursor };
  for (let lookedAt = 0; lookedAt < LOOKED_AT_MAX && pagination.hasMore;) {
    // Never more than what is missing, so that the cursor stands right behind the last that fits.
    const step = Math.min(STEP, limit - items.length);
    if (step === 0) break;
    const { nextCursor } = pagination;
    const page = await pageConsumers({ db, cursors }, { limit: step, cursor: nextCursor });
    items.push(...page.items.filter((consumer) => fits(consumer, filter, now)));
    lookedAt += page.items.length;
    pagination = page.pagination;
  }
  return { items, pagination };
}

function fits(consumer: Consumer, filter: ConsumerFilter, now: number): boolean {
  const { text, status, endsWithinDays } = filter;
  if (status !== undefined && statusAt(consumer, now) !== status) return false;
  if (text !== undefined && !isNamed(consumer, text)) return false;
  if (endsWithinDays === undefined) return true;
  const end = nextExpiry(consumer, now);
  return consumer.state === 'active' && end !== undefined && end - now <= endsWithinDays * DAY;
}

function isNamed({ name, id, keys }: Consumer, text: string): boolean {
  const wanted = foldConsumerName(text);
  return [name, id, ...keys.map(({ keyId }) => keyId)].some((known) =>
    foldConsumerName(known).includes(wanted),
  );
}

type ReplaceGrantsInput = {
  id: string;
  grants: readonly GrantInput[];
  /** Grants that the caller saw: nothing is done when there are others by now. */
  expected?: readonly Grant[];
};

/**
 * Replaces all grants; none at all is allowed.
 * @throws {validation-failed} @throws {not-found} @throws {invalid-lifecycle-transition} revoked
 * @throws {precondition-failed} there are others than `expected`
 */
export async function replaceGrants(
  accessStore: AccessStore,
  input: ReplaceGrantsInput,
  origin: Origin,
): Promise<Consumer> {
  const grants = parseGrants(input.grants);
  return changeConsumer(accessStore, input.id, (before) => {
    refuseRevoked(before);
    refuseOtherGrants(before, input.expected);
    const at = accessStore.clock.now();
    return {
      consumer: { ...before, grants },
      audit: auditEntryOf(before, origin, { at, action: 'consumer.grant', changes: { grants } }),
    };
  });
}

function refuseOtherGrants({ grants }: Consumer, expected: readonly Grant[] | undefined): void {
  if (expected === undefined || isDeepStrictEqual(grants, expected)) return;
  throw new TrackportError('precondition-failed', {
    detail: 'Somebody else has changed these grants meanwhile. Look at them again.',
  });
}

export type UpdateConsumerInput = {
  name?: string;
  /** Take the name even when another consumer has it. */
  force?: boolean;
  /** Null takes the default limit again. */
  limitPerMinute?: number | null;
  /** Revoking has a call of its own. */
  state?: 'active' | 'disabled';
};

/**
 * Changes what is given and leaves the rest.
 * @throws {validation-failed} @throws {not-found} @throws {invalid-lifecycle-transition} revoked
 */
export async function updateConsumer(
  accessStore: AccessStore,
  { id, patch }: { id: string; patch: UpdateConsumerInput },
  origin: Origin,
): Promise<Consumer> {
  const changes = parsePatch(patch);
  return changeConsumer(accessStore, id, (before) => {
    refuseRevoked(before);
    const { limitPerMinute, ...merged } = { ...before, ...changes };
    const at = accessStore.clock.now();
    return {
      consumer: typeof limitPerMinute === 'number' ? { ...merged, limitPerMinute } : merged,
      audit: auditEntryOf(before, origin, { at, action: 'consumer.update', changes }),
      hasUniqueName: changes.name !== undefined && patch.force !== true,
    };
  });
}

function parsePatch({
  name,
  limitPerMinute,
  state,
}: UpdateConsumerInput): Omit<UpdateConsumerInput, 'force'> {
  if (name === undefined && limitPerMinute === undefined && state === undefined)
    refuse([
      {
        pointer: '#',
        code: 'required',
        detail: 'Give at least one of `name`, `limitPerMinute` and `state`.',
      },
    ]);
  return {
    ...(name !== undefined && { name: parseConsumerName(name) }),
    ...(limitPerMinute !== undefined && {
      limitPerMinute: limitPerMinute === null ? null : parseLimitPerMinute(limitPerMinute),
    }),
    ...(state !== undefined && { state }),
  };
}

/**
 * Revokes the consumer with all its keys, at once and for good. Called again it changes nothing.
 * @throws {not-found} @throws {store-unavailable}
 */
export function revokeConsumer(
  accessStore: AccessStore,
  { id }: { id: string },
  origin: Origin,
): Promise<Consumer> {
  return changeConsumer(accessStore, id, (before) => {
    if (before.state === 'revoked') return undefined;
    const at = accessStore.clock.now();
    const keys = before.keys.map((key) => ({ ...key, revokedAt: key.revokedAt ?? at }));
    return {
      consumer: { ...before, state: 'revoked', keys },
      audit: auditEntryOf(before, origin, {
        at,
        action: 'consumer.revoke',
        changes: { state: 'revoked' },
      }),
    };
  });
}
