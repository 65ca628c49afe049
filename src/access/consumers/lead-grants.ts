/** Grants of leads that consumers have and had: the audit log knows every one. */
import type { Statements } from '#shared/database.ts';
import type { Grant } from '../grant.ts';
import type { Consumer } from './consumer.ts';

/** Labels that leads must carry, from when until when (ms since the Unix epoch). */
type LeadGrant = { labels: readonly string[]; from: number; to: number };

/** A consumer with what it was granted of leads; `labels` are those of now. */
type LeadGrants = {
  id: string;
  name: string;
  labels?: readonly string[];
  grants: readonly LeadGrant[];
};

const CONSUMERS = `
  SELECT id, name, state, created_at,
    (SELECT coalesce(labels, '[]') FROM consumer_grant
     WHERE consumer_id = consumer.id AND action = 'leads:read') AS labels
  FROM consumer ORDER BY created_at, id`;

const CHANGES = `
  SELECT at, subject, changes FROM audit
  WHERE action IN ('consumer.create', 'consumer.grant', 'consumer.revoke') ORDER BY id`;

type ConsumerRow = Pick<Consumer, 'id' | 'name' | 'state' | 'createdAt'> & { labels?: string };
type ChangeRow = { at: number; subject: string; changes?: string };

/** All consumers, those that were revoked among them. @throws {store-unavailable} */
export async function readLeadGrants(db: Statements): Promise<LeadGrants[]> {
  const rows = await db.all<ConsumerRow>(CONSUMERS);
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
