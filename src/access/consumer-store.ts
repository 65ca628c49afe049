import type { AuditAction, AuditEntry, Origin } from '#shared/audit.ts';
import type { Clock } from '#shared/clock.ts';
import type { NewId } from '#shared/ids.ts';
import type { Consumer, ConsumerId, Key, KeyId } from './consumers/consumer.ts';

/** All that decides whether a key is good, in one look-up. */
export type KeyLookup = {
  key: Key;
  consumer: Omit<Consumer, 'keys' | 'createdAt'>;
};

/** A consumer's next state, and what is written with it in one transaction. */
export type ConsumerChange = {
  consumer: Consumer;
  /** Who made it so. */
  audit: AuditEntry;
  /**
   * Refuse the change when another consumer that is not revoked has this name, compared by
   * `foldConsumerName`. @throws {validation-failed}
   */
  hasUniqueName?: boolean;
};

/** Position of a list: the last consumer of the page before. */
export type ConsumerPosition = { createdAt: number; id: ConsumerId };

/** Port: consumers with their grants and keys. Every method @throws {store-unavailable} */
export type ConsumerStore = {
  /**
   * Another number after a consumer, key or grant changed: at once for changes made here, within a
   * second for those of other instances. Also while nobody can know whether something did. Cheap
   * enough for every request.
   */
  version(): number;
  /** One key with what its consumer may do, whatever the state of both. */
  findKey(keyId: KeyId): Promise<KeyLookup | undefined>;
  find(id: ConsumerId): Promise<Consumer | undefined>;
  /** Oldest first. */
  list(page: {
    limit: number;
    after?: ConsumerPosition;
  }): Promise<{ items: Consumer[]; hasMore: boolean }>;
  insert(change: ConsumerChange): Promise<void>;
  /**
   * Hands the consumer to `decide` while nobody else can change it, and writes what `decide`
   * returns in the same transaction; undefined writes nothing. When `decide` throws, nothing
   * happened. It may be called again, with the consumer as another instance has just left it; then
   * only what it returned last is written. Resolves with the consumer as it is afterwards. Keys can
   * be added and changed, never removed; `lastUsedAt` is not written.
   * @throws {not-found} no consumer has this id
   */
  change(
    id: ConsumerId,
    decide: (consumer: Consumer) => ConsumerChange | undefined,
  ): Promise<Consumer>;
  /** Moves `lastUsedAt` of keys forward, never back. Unknown keys are passed over. */
  recordUses(uses: ReadonlyMap<KeyId, number>): Promise<void>;
};

/** What managing consumers needs. */
export type ManageDeps = {
  store: ConsumerStore;
  clock: Pick<Clock, 'now'>;
  newId: NewId;
};

type AuditFacts = { at: number; action: AuditAction; changes: Record<string, unknown> };

/** One line of the audit log about a consumer. */
export function auditOf(consumer: Consumer, origin: Origin, facts: AuditFacts): AuditEntry {
  return { ...facts, ...origin, subject: `consumer/${consumer.id}` };
}
