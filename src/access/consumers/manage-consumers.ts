import type { Origin } from '#shared/audit.ts';
import { isDeepStrictEqual } from 'node:util';
import { refuse, TrackportError } from '#shared/errors.ts';
import {
  type Consumer,
  type ConsumerId,
  consumerNotFound,
  refuseRevoked,
  parseConsumerName,
  parseLimitPerMinute,
} from './consumer.ts';
import { type Grant, type GrantInput, parseGrants } from '../grant.ts';
import { issueKey } from '../keys/api-key.ts';
import type { ConsumerWithKey } from '../keys/manage-keys.ts';
import {
  auditEntryOf,
  changeConsumer,
  type ConsumerRegistry,
  findConsumer,
  insertConsumer,
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
  registry: ConsumerRegistry,
  input: CreateConsumerInput,
  origin: Origin,
): Promise<ConsumerWithKey> {
  const now = registry.clock.now();
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
    id: registry.newId() as ConsumerId,
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
  await insertConsumer(registry, { consumer, audit, hasUniqueName: input.force !== true });
  return { consumer, issued };
}

/** @throws {not-found} @throws {store-unavailable} */
export async function readConsumer({ db }: ConsumerRegistry, id: string): Promise<Consumer> {
  return (await findConsumer(db, id)) ?? consumerNotFound();
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
  registry: ConsumerRegistry,
  input: ReplaceGrantsInput,
  origin: Origin,
): Promise<Consumer> {
  const grants = parseGrants(input.grants);
  return changeConsumer(registry, input.id, (before) => {
    refuseRevoked(before);
    refuseOtherGrants(before, input.expected);
    const at = registry.clock.now();
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
  registry: ConsumerRegistry,
  { id, patch }: { id: string; patch: UpdateConsumerInput },
  origin: Origin,
): Promise<Consumer> {
  const changes = parsePatch(patch);
  return changeConsumer(registry, id, (before) => {
    refuseRevoked(before);
    const { limitPerMinute, ...merged } = { ...before, ...changes };
    const at = registry.clock.now();
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
  registry: ConsumerRegistry,
  { id }: { id: string },
  origin: Origin,
): Promise<Consumer> {
  return changeConsumer(registry, id, (before) => {
    if (before.state === 'revoked') return undefined;
    const at = registry.clock.now();
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
