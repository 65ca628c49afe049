import { CONSUMER_COLUMNS, KEY_COLUMNS } from './rows.ts';

export const VERSION = 'SELECT version FROM access_version';

/** Whoever changes a consumer takes turns with all others who do: names are unique among them. */
export const LOCK = 'SELECT version FROM access_version FOR UPDATE';

export const MOVE_VERSION = 'UPDATE access_version SET version = version + 1';

export const OTHER_NAMES = `
  SELECT id, name FROM consumer WHERE id <> @id AND state <> 'revoked' ORDER BY created_at, id`;

export const CONSUMER = `SELECT ${CONSUMER_COLUMNS} FROM consumer WHERE id = @id`;

export const CONSUMERS_AFTER = `
  SELECT ${CONSUMER_COLUMNS} FROM consumer WHERE (created_at, id) > (@createdAt, @id)
  ORDER BY created_at, id LIMIT @rows`;

export const PUT_CONSUMER = `
  INSERT INTO consumer (${CONSUMER_COLUMNS})
  VALUES (@id, @name, @state, @limitPerMinute, @createdAt)
  ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, state = excluded.state, limit_per_minute = excluded.limit_per_minute`;

export const GRANTS_OF = `
  SELECT consumer_id, action, labels, workspace FROM consumer_grant
  WHERE consumer_id = ANY(@ids) ORDER BY action`;

export const REMOVE_GRANTS = 'DELETE FROM consumer_grant WHERE consumer_id = @id';

export const INSERT_GRANT = `
  INSERT INTO consumer_grant (consumer_id, action, labels, workspace)
  VALUES (@consumerId, @action, @labels, @workspace)`;

export const KEY = `SELECT ${KEY_COLUMNS} FROM api_key WHERE key_id = @keyId`;

export const KEYS_OF = `
  SELECT ${KEY_COLUMNS} FROM api_key
  WHERE consumer_id = ANY(@ids) ORDER BY created_at, serial`;

/** What identifies a key never changes; last_used_at belongs to RECORD_USES. */
export const PUT_KEY = `
  INSERT INTO api_key (${KEY_COLUMNS})
  VALUES (@keyId, @consumerId, @sha256, @last4, @createdBy, @createdAt, @expiresAt, @revokedAt,
    @replacedBy, @lastUsedAt)
  ON CONFLICT (key_id) DO UPDATE SET expires_at = excluded.expires_at,
    revoked_at = excluded.revoked_at, replaced_by = excluded.replaced_by`;

/** In the order of the ids, so that two instances never wait for each other. */
export const RECORD_USES = `
  UPDATE api_key SET last_used_at = used.at
  FROM (
    SELECT key_id, given.at
    FROM api_key JOIN unnest(@keyIds::text[], @ats::bigint[]) AS given (id, at) ON id = key_id
    ORDER BY key_id FOR UPDATE OF api_key
  ) AS used
  WHERE api_key.key_id = used.key_id
    AND (api_key.last_used_at IS NULL OR api_key.last_used_at < used.at)`;
