import type { CreateConsumerInput } from '#access/consumers/manage-consumers.ts';
import { type ConsumerWithKey, createApiKey, type NewKey } from '#access/keys/key-rules.ts';
import type { Consumer, ConsumerId, Key } from '#access/consumers/consumer.ts';
import type { Access } from '#access/index.ts';
import type { AuditEntry, Origin } from '#shared/audit.ts';
import { openWorld } from '../support/world.ts';

export const origin: Origin = {
  actor: { kind: 'cli', subject: 'operator' },
  requestId: '00000000-0000-4000-8000-000000000001',
};

/** Access on a store of its own, whose consumers are all called `c-1`. */
export function buildTestAccess() {
  const { access, auditOf, clock, database } = openWorld({ access: { newId: () => 'c-1' } });
  /** The audit log about `c-1`, oldest first. */
  const audit = () => auditOf('consumer/c-1');
  return { access, audit, clock, database };
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

/** A consumer called Portal, in the store of `buildTestAccess`. */
export function createPortal(
  access: Access,
  input: Partial<CreateConsumerInput> = {},
): Promise<ConsumerWithKey> {
  return access.consumers.create({ name: 'Portal', ...input }, origin);
}

/** True when a key lets its holder in. */
export function isKeyGood(access: Pick<Access, 'authenticate'>, key: string): Promise<boolean> {
  return access.authenticate(key).then(
    () => true,
    () => false,
  );
}
