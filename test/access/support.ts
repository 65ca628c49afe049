import { expect } from 'vitest';
import type { CreateConsumerInput } from '#access/consumers/manage-consumers.ts';
import type { ConsumerWithKey } from '#access/keys/manage-keys.ts';
import type { ErrorCode } from '#shared/errors.ts';
import { createApiKey, type NewKey } from '#access/keys/api-key.ts';
import type { ConsumerChange, ConsumerStore, KeyLookup } from '#access/consumer-store.ts';
import {
  type Consumer,
  type ConsumerId,
  consumerNotFound,
  foldConsumerName,
  type Key,
  type KeyId,
  refuseNamesake,
} from '#access/consumers/consumer.ts';
import { type Access, createAccess } from '#access/index.ts';
import type { AuditEntry, Origin } from '#shared/audit.ts';
import { silentLog } from '#shared/log.ts';
import { createCursorSealer } from '#shared/pagination/page.ts';
import { createFakeClock, type FakeClock } from '../support/clock.ts';

export const origin: Origin = {
  actor: { kind: 'cli', subject: 'operator' },
  requestId: '00000000-0000-4000-8000-000000000001',
};

/** A store that keeps consumers in a map and tells what was asked of it. */
export type MemoryConsumerStore = ConsumerStore & {
  audit: AuditEntry[];
  /** Key ids that were looked up, in order. */
  lookUps: KeyId[];
  uses: ReadonlyMap<KeyId, number>[];
  /** As if another process had changed something. */
  moveVersion(): void;
};

/** The port in memory, for tests of what is above it. */
export function createMemoryConsumerStore(): MemoryConsumerStore {
  const consumers = new Map<ConsumerId, Consumer>();
  const audit: AuditEntry[] = [];
  const lookUps: KeyId[] = [];
  const uses: ReadonlyMap<KeyId, number>[] = [];
  let version = 1;
  const put = ({ consumer, audit: entry, hasUniqueName }: ConsumerChange): void => {
    const folded = foldConsumerName(consumer.name);
    for (const { id, name, state } of hasUniqueName === true ? consumers.values() : [])
      if (id !== consumer.id && state !== 'revoked' && foldConsumerName(name) === folded)
        refuseNamesake(id);
    consumers.set(consumer.id, consumer);
    audit.push(entry);
    version += 1;
  };
  return {
    audit,
    lookUps,
    uses,
    moveVersion: () => {
      version += 1;
    },
    version: () => version,
    findKey: async (keyId) => {
      lookUps.push(keyId);
      return lookUpIn([...consumers.values()], keyId);
    },
    find: async (id) => consumers.get(id),
    list: async () => ({ items: [...consumers.values()], hasMore: false }),
    insert: async (change) => put(change),
    change: async (id, decide) => {
      const change = decide(consumers.get(id) ?? consumerNotFound());
      if (change) put(change);
      return consumers.get(id) ?? consumerNotFound();
    },
    recordUses: async (recorded) => {
      uses.push(recorded);
    },
  };
}

function lookUpIn(consumers: Consumer[], keyId: KeyId): KeyLookup | undefined {
  for (const consumer of consumers) {
    const key = consumer.keys.find((candidate) => candidate.keyId === keyId);
    if (key) return { key, consumer };
  }
  return undefined;
}

/** Access on a store in memory, whose consumers are all called `c-1`. */
export function buildMemoryAccess(): {
  access: Access;
  store: MemoryConsumerStore;
  clock: FakeClock;
} {
  const clock = createFakeClock();
  const store = createMemoryConsumerStore();
  const access = createAccess({
    store,
    audit: { list: async () => ({ items: store.audit.toReversed() }) },
    cursors: createCursorSealer(Buffer.alloc(32, 1)),
    clock,
    newId: () => 'c-1',
    log: silentLog,
    limitPerMinute: () => 600,
  });
  return { access, store, clock };
}

/** The nth key of a consumer, oldest first. */
export function keyAt(consumer: Consumer, index: number): Key {
  const key = consumer.keys[index];
  if (!key) throw new Error(`no key ${index}`);
  return key;
}

/** A consumer with one key, and that key. */
export function consumerWithKey(
  facts: Partial<Consumer> & { expiresAt?: number; revokedAt?: number } = {},
): { consumer: Consumer; made: NewKey; text: string } {
  const { expiresAt, revokedAt, ...rest } = facts;
  const made = createApiKey();
  const { key, ...stored } = made;
  const consumer: Consumer = {
    id: 'c-1' as ConsumerId,
    name: 'Portal',
    state: 'active',
    grants: [{ action: 'leads:read' }],
    createdAt: 1,
    keys: [
      {
        ...stored,
        createdBy: 'operator',
        createdAt: 1,
        ...(expiresAt !== undefined && { expiresAt }),
        ...(revokedAt !== undefined && { revokedAt }),
      },
    ],
    ...rest,
  };
  return { consumer, made, text: key.reveal() };
}

/** The line of the audit log that a test does not care about. */
export const anyAudit: AuditEntry = {
  at: 1,
  actor: origin.actor,
  action: 'consumer.create',
  subject: 'consumer/c-1',
};

/** A consumer called Portal, in the store of `buildMemoryAccess`. */
export function createPortal(
  access: Access,
  input: Partial<CreateConsumerInput> = {},
): Promise<ConsumerWithKey> {
  return access.consumers.create({ name: 'Portal', ...input }, origin);
}

/** Matches an error with this code. */
export function rejectionWith(code: ErrorCode): unknown {
  return expect.objectContaining({ code });
}
