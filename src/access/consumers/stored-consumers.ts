/** Statements of consumers with their grants and keys. Every function throws `store-unavailable`. */
import type { NewId } from '#shared/ids.ts';
import { appendAudit, type AuditEntry, type Origin } from '#shared/audit.ts';
import type { Clock } from '#shared/clock.ts';
import { type Database, send, type Statements, type Tx } from '#shared/database.ts';
import type { Listed, PageRange } from '#shared/pagination/page.ts';
import { toJson, toRecords } from '#shared/sql.ts';
import type { Grant } from '../grant.ts';
import {
  type Consumer,
  type ConsumerId,
  consumerNotFound,
  foldConsumerName,
  type Key,
  type KeyId,
  type KeyLookup,
  refuseNamesake,
} from './consumer.ts';

/** Consumers and keys are managed with it. */
export type AccessStore = {
  db: Database;
  clock: Clock;
  newId: NewId;
  /** Told when a consumer, key or grant has changed. */
  accessVersion: { expire(): void };
};

/** A consumer's next state, and what is written with it in one transaction. */
export type ConsumerChange = {
  consumer: Consumer;
  audit: AuditEntry;
  /**
   * Refuse the change when another consumer that is not revoked has this name, compared by
   * `foldConsumerName`. @throws {validation-failed}
   */
  hasUniqueName?: boolean;
};

/** Position of a consumer in the list: when it was made, and its id. */
type ConsumerPosition = [createdAt: number, id: string];

/** One line of the audit log about a consumer. */
export function auditEntryOf(
  consumer: Consumer,
  origin: Origin,
  change: Pick<AuditEntry, 'at' | 'action' | 'changes'>,
): AuditEntry {
  return { ...change, ...origin, subject: `consumer/${consumer.id}` };
}

type ConsumerRow = Omit<Consumer, 'grants' | 'keys'>;

type KeyRow = Omit<Key, 'digest'> & { consumerId: ConsumerId; sha256: Buffer };

type GrantRow = { consumerId: ConsumerId; labels?: string } & Omit<Grant, 'labels'>;

/** The columns of `ConsumerRow`. */
const CONSUMER_COLUMNS = 'id, name, state, limit_per_minute, created_at';

const CONSUMER = `SELECT ${CONSUMER_COLUMNS} FROM consumer WHERE id = @id`;

/** The columns of `KeyRow`, of the table `api_key`. */
const KEY_COLUMNS = `
  key_id, consumer_id, sha256, last4, created_by, created_at, expires_at, revoked_at, replaced_by,
  last_used_at`;

function toKey({ sha256, consumerId: _consumerId, ...row }: KeyRow): Key {
  return { ...row, digest: sha256 };
}

function toKeyRow(consumerId: ConsumerId, key: Key): KeyRow {
  const { digest: sha256, expiresAt, revokedAt, replacedBy, lastUsedAt, ...rest } = key;
  return { ...rest, consumerId, sha256, expiresAt, revokedAt, replacedBy, lastUsedAt };
}

function toGrant({ consumerId: _consumerId, labels, ...row }: GrantRow): Grant {
  return labels === undefined ? row : { ...row, labels: JSON.parse(labels) as string[] };
}

function toGrantRow(consumerId: ConsumerId, { action, labels, workspace }: Grant): GrantRow {
  return { consumerId, action, labels: toJson(labels), workspace };
}

const GRANTS_OF = `
  SELECT consumer_id, action, labels, workspace FROM consumer_grant
  WHERE consumer_id = ANY(@ids) ORDER BY action`;

const KEYS_OF = `
  SELECT ${KEY_COLUMNS} FROM api_key
  WHERE consumer_id = ANY(@ids) ORDER BY created_at, serial`;

export async function findConsumer(db: Statements, id: string): Promise<Consumer | undefined> {
  const row = await db.get<ConsumerRow>(CONSUMER, { id });
  return row && (await withGrantsAndKeys(db, [row]))[0];
}

async function withGrantsAndKeys(
  db: Statements,
  rows: readonly ConsumerRow[],
): Promise<Consumer[]> {
  const ids = rows.map(({ id }) => id);
  const grants = await db.all<GrantRow>(GRANTS_OF, { ids });
  const keys = await db.all<KeyRow>(KEYS_OF, { ids });
  const grantsOf = Map.groupBy(grants, ({ consumerId }) => consumerId);
  const keysOf = Map.groupBy(keys, ({ consumerId }) => consumerId);
  return rows.map((row) => ({
    ...row,
    grants: (grantsOf.get(row.id) ?? []).map(toGrant),
    keys: (keysOf.get(row.id) ?? []).map(toKey),
  }));
}

const KEY = `SELECT ${KEY_COLUMNS} FROM api_key WHERE key_id = @keyId`;

/** One key with what its consumer may do, whatever the state of both. */
export async function lookUpKey(db: Statements, keyId: KeyId): Promise<KeyLookup | undefined> {
  const row = await db.get<KeyRow>(KEY, { keyId });
  const consumer = row && (await db.get<ConsumerRow>(CONSUMER, { id: row.consumerId }));
  if (!consumer) return undefined;
  const { createdAt: _createdAt, ...shown } = consumer;
  const grants = await db.all<GrantRow>(GRANTS_OF, { ids: [consumer.id] });
  return { key: toKey(row), consumer: { ...shown, grants: grants.map(toGrant) } };
}

const CONSUMERS_AFTER = `
  SELECT ${CONSUMER_COLUMNS} FROM consumer WHERE (created_at, id) > (@createdAt, @id)
  ORDER BY created_at, id LIMIT @limit`;

/** Oldest first. */
export async function listConsumers(
  db: Statements,
  { limit, after: [createdAt, id] = [Number.MIN_SAFE_INTEGER, ''] }: PageRange<ConsumerPosition>,
): Promise<Listed<Consumer, ConsumerPosition>[]> {
  const rows = await db.all<ConsumerRow>(CONSUMERS_AFTER, { createdAt, id, limit });
  const consumers = await withGrantsAndKeys(db, rows);
  return consumers.map((item) => ({ item, position: [item.createdAt, item.id] }));
}

/** Whoever changes a consumer takes turns with all others who do: names are unique among them. */
const LOCK = 'SELECT version FROM access_version FOR UPDATE';

const RAISE_ACCESS_VERSION = 'UPDATE access_version SET version = version + 1';

const OTHER_NAMES = `
  SELECT id, name FROM consumer WHERE id <> @id AND state <> 'revoked' ORDER BY created_at, id`;

const PUT_CONSUMER = `
  INSERT INTO consumer (${CONSUMER_COLUMNS})
  VALUES (@id, @name, @state, @limitPerMinute, @createdAt)
  ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, state = excluded.state, limit_per_minute = excluded.limit_per_minute`;

const REMOVE_GRANTS = 'DELETE FROM consumer_grant WHERE consumer_id = @id';

const INSERT_GRANT = `
  INSERT INTO consumer_grant (consumer_id, action, labels, workspace)
  VALUES (@consumerId, @action, @labels, @workspace)`;

/** Columns that identify a key never change; last_used_at belongs to RECORD_USES. */
const PUT_KEY = `
  INSERT INTO api_key (${KEY_COLUMNS})
  VALUES (@keyId, @consumerId, @sha256, @last4, @createdBy, @createdAt, @expiresAt, @revokedAt,
    @replacedBy, @lastUsedAt)
  ON CONFLICT (key_id) DO UPDATE SET expires_at = excluded.expires_at,
    revoked_at = excluded.revoked_at, replaced_by = excluded.replaced_by`;

/** In the order of the ids, so that two instances never wait for each other. */
const RECORD_USES = `
  UPDATE api_key SET last_used_at = used.at
  FROM (
    SELECT key_id, given.at
    FROM jsonb_to_recordset(@uses) AS given (id text, at bigint) JOIN api_key ON key_id = given.id
    ORDER BY key_id FOR UPDATE OF api_key
  ) AS used
  WHERE api_key.key_id = used.key_id
    AND (api_key.last_used_at IS NULL OR api_key.last_used_at < used.at)`;

/** @throws {validation-failed} another consumer has its name, and that matters */
export async function insertConsumer(
  { db, accessVersion }: AccessStore,
  change: ConsumerChange,
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.get(LOCK);
    await put(tx, change);
  });
  accessVersion.expire();
}

/**
 * Hands the consumer to `decide` while nobody else can change it, and writes what `decide` returns in the same
 * transaction; undefined writes nothing. When `decide` throws, nothing happened. Resolves with the consumer as it is
 * afterwards. Keys can be added and changed, never removed; `lastUsedAt` is not written.
 * @throws {not-found} no consumer has this id
 */
export async function changeConsumer(
  { db, accessVersion }: AccessStore,
  id: string,
  decide: (consumer: Consumer) => ConsumerChange | undefined,
): Promise<Consumer> {
  const { consumer, isChanged } = await db.transaction(async (tx) => {
    await tx.get(LOCK);
    const before = (await findConsumer(tx, id)) ?? consumerNotFound();
    const change = decide(before);
    if (!change) return { consumer: before, isChanged: false };
    await put(tx, change);
    return { consumer: (await findConsumer(tx, id)) ?? consumerNotFound(), isChanged: true };
  });
  if (isChanged) accessVersion.expire();
  return consumer;
}

/** Moves `lastUsedAt` of keys forward, never back. Unknown keys are passed over. */
export async function recordKeyUses(
  db: Statements,
  uses: ReadonlyMap<KeyId, number>,
): Promise<void> {
  await db.run(RECORD_USES, { uses: toRecords([...uses].map(([id, at]) => ({ id, at }))) });
}

async function put(tx: Tx, { consumer, audit, hasUniqueName }: ConsumerChange): Promise<void> {
  if (hasUniqueName === true) await requireUniqueName(tx, consumer);
  send(tx, PUT_CONSUMER, { ...consumer, limitPerMinute: consumer.limitPerMinute });
  send(tx, REMOVE_GRANTS, { id: consumer.id });
  for (const grant of consumer.grants) send(tx, INSERT_GRANT, toGrantRow(consumer.id, grant));
  for (const key of consumer.keys) send(tx, PUT_KEY, toKeyRow(consumer.id, key));
  send(tx, RAISE_ACCESS_VERSION);
  appendAudit(tx, audit);
}

/** Folded here, so that it means the same on every store. */
async function requireUniqueName(db: Statements, { id, name }: Consumer): Promise<void> {
  const folded = foldConsumerName(name);
  const others = await db.all<{ id: ConsumerId; name: string }>(OTHER_NAMES, { id });
  const namesake = others.find((other) => foldConsumerName(other.name) === folded);
  if (namesake) refuseNamesake(namesake.id);
}

/** Labels that leads must carry, from when until when (ms since the Unix epoch). */
type LeadGrant = { labels: readonly string[]; from: number; to: number };

/** A consumer with what it was granted of leads; `labels` are those of now. */
type LeadGrants = {
  id: string;
  name: string;
  labels?: readonly string[];
  grants: readonly LeadGrant[];
};

const GRANTED = `
  SELECT id, name, state, created_at,
    (SELECT coalesce(labels, '[]') FROM consumer_grant
     WHERE consumer_id = consumer.id AND action = 'leads:read') AS labels
  FROM consumer ORDER BY created_at, id`;

const CHANGES = `
  SELECT at, subject, changes FROM audit
  WHERE action IN ('consumer.create', 'consumer.grant', 'consumer.revoke') ORDER BY id`;

type GrantedRow = Pick<Consumer, 'id' | 'name' | 'state' | 'createdAt'> & { labels?: string };
type ChangeRow = { at: number; subject: string; changes?: string };

/** Grants of leads that all consumers have and had, the revoked among them: the audit log knows every one. */
export async function readLeadGrants(db: Statements): Promise<LeadGrants[]> {
  const rows = await db.all<GrantedRow>(GRANTED);
  const changes = Map.groupBy(await db.all<ChangeRow>(CHANGES), ({ subject }) => subject);
  return rows.map(({ id, name, state, createdAt, labels }) => {
    const now = labels === undefined ? undefined : (JSON.parse(labels) as string[]);
    const known = toGrants(changes.get(`consumer/${id}`) ?? []);
    const unknown = now && known.length === 0;
    return {
      id,
      name,
      ...(now && state === 'active' && { labels: now }),
      grants: unknown ? [{ labels: now, from: createdAt, to: Infinity }] : known,
    };
  });
}

/** Each change ends what was granted before. */
function toGrants(changes: readonly ChangeRow[]): LeadGrant[] {
  return changes.flatMap((change, index) => {
    const { grants = [] } = JSON.parse(change.changes ?? '{}') as { grants?: Grant[] };
    const grant = grants.find(({ action }) => action === 'leads:read');
    if (!grant) return [];
    return { labels: grant.labels ?? [], from: change.at, to: changes[index + 1]?.at ?? Infinity };
  });
}
