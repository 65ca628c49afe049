import {
  IDEMPOTENCY_TTL_MS,
  type IdempotencyStore,
  refuseTaken,
  type StoredCall,
} from './idempotency.ts';
import type { Tx, Database } from './database.ts';

/** What is stored for one workspace at most. Counting is dear: the bounds may be exceeded by `trimEveryKeys`. */
const BOUNDS = { keysMax: 10_000, bytesMax: 64 * 1024 * 1024, trimEveryKeys: 100 };

/** A little of what is too old goes with every new key. */
const EXPIRED_AT_ONCE = 20;

const FIND = `
  SELECT fingerprint, status, headers, body FROM idempotency_key
  WHERE digest = @digest AND started_at >= @expired`;

/** An expired row is replaced, any other stays as it is. */
const PUT = `
  INSERT INTO idempotency_key AS stored
    (digest, workspace_id, fingerprint, started_at, status, headers, body, bytes)
  VALUES (@digest, @workspaceId, @fingerprint, @now, @status, @headers, @body, @bytes)
  ON CONFLICT (digest) DO UPDATE SET
    fingerprint = excluded.fingerprint, started_at = excluded.started_at,
    status = excluded.status, headers = excluded.headers, body = excluded.body,
    bytes = excluded.bytes
  WHERE stored.started_at < @expired`;

const EXPIRE = `
  DELETE FROM idempotency_key WHERE digest IN (
    SELECT digest FROM idempotency_key WHERE workspace_id = @workspaceId AND started_at < @expired
    ORDER BY started_at LIMIT ${EXPIRED_AT_ONCE} FOR UPDATE SKIP LOCKED)`;

const TRIM = `
  DELETE FROM idempotency_key WHERE digest IN (
    SELECT digest FROM (
      SELECT digest, row_number() OVER newest AS place, sum(bytes) OVER newest AS total
      FROM idempotency_key WHERE workspace_id = @workspaceId
      WINDOW newest AS (ORDER BY started_at DESC, digest)) AS placed
    WHERE place > @keysMax OR total > @bytesMax)`;

type KeyRow = { fingerprint: Buffer; status: number; headers: string; body: string };

/** Stores the responses to calls with an idempotency key. */
export function createIdempotencyStore(database: Database, bounds = BOUNDS): IdempotencyStore {
  return {
    find: async (call) => {
      const expired = call.now - IDEMPOTENCY_TTL_MS;
      const row = await database.get<KeyRow>(FIND, { digest: call.digest, expired });
      if (!row) return { kind: 'nothing' };
      const { fingerprint, headers, ...rest } = row;
      if (!fingerprint.equals(call.fingerprint)) return { kind: 'mismatch' };
      return { kind: 'stored', response: { ...rest, headers: JSON.parse(headers) } };
    },
    put: (call) => database.transaction((tx) => putCall(tx, call, bounds)),
  };
}

/**
 * Writes the response to a keyed call. Call it inside the transaction of what the call changes.
 * @throws {idempotency-in-progress} the key has been taken meanwhile: the transaction must not be
 */
export async function putCall(
  session: Tx,
  { response, ...call }: StoredCall,
  { trimEveryKeys, ...bounds } = BOUNDS,
): Promise<void> {
  const headers = JSON.stringify(response.headers);
  const bytes = Buffer.byteLength(response.body) + headers.length;
  const expired = call.now - IDEMPOTENCY_TTL_MS;
  const changes = await session.run(PUT, { ...call, ...response, headers, bytes, expired });
  if (changes === 0) refuseTaken('The first call with this `Idempotency-Key` has just ended.');
  await session.run(EXPIRE, { workspaceId: call.workspaceId, expired });
  // One key in so many, by chance: digests are evenly spread.
  if ((call.digest.at(-1) ?? 0) % trimEveryKeys === 0)
    await session.run(TRIM, { workspaceId: call.workspaceId, ...bounds });
}
