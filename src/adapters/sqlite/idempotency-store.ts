import { defaultKeyBounds, IDEMPOTENCY_TTL_MS, refuseTaken, toFound } from '#shared/idempotency.ts';
import type { IdempotencyStore, KeyBounds, KeyRow, StoredRun } from '#shared/idempotency.ts';
import type { Connection } from './connection/connection.ts';
import type { Database } from './connection/database.ts';
import { guard } from './connection/errors.ts';
import type { WriteFamily } from './writer/writer.ts';

/** A little of what is too old goes with every new key. */
const EXPIRED_AT_ONCE = 20;

/** Stores the responses to calls with an idempotency key. */
export function createIdempotencyStore(
  database: Database,
  bounds: KeyBounds = defaultKeyBounds,
): IdempotencyStore {
  const write = database.writer.open(idempotencyWrites, bounds);
  const find = database.handle.prepare<[Buffer, number], KeyRow>(
    'SELECT fingerprint, status, headers, body FROM idempotency_key WHERE digest = ? AND startedAt >= ?',
  );
  return {
    find: async (run) =>
      guard(() => toFound(find.get(run.digest, run.now - IDEMPOTENCY_TTL_MS), run)),
    put: (run) => write('put', run),
  };
}

type IdempotencyWrites = { put(run: StoredRun): void };

export const idempotencyWrites: WriteFamily<KeyBounds, IdempotencyWrites> = {
  name: 'idempotency',
  create: (connection, bounds) => ({ put: createKeyWriter(connection, bounds) }),
};

/** An expired row is replaced, any other stays as it is. */
const PUT = `
  INSERT INTO idempotency_key (digest, workspaceId, fingerprint, startedAt, status, headers, body, bytes)
  VALUES (@digest, @workspaceId, @fingerprint, @now, @status, @headers, @body, @bytes)
  ON CONFLICT (digest) DO UPDATE SET
    fingerprint = excluded.fingerprint, startedAt = excluded.startedAt, status = excluded.status,
    headers = excluded.headers, body = excluded.body, bytes = excluded.bytes
  WHERE startedAt < @expired`;

const EXPIRE = `
  DELETE FROM idempotency_key WHERE digest IN (
    SELECT digest FROM idempotency_key WHERE workspaceId = ? AND startedAt < ?
    ORDER BY startedAt LIMIT ?)`;

const TRIM = `
  DELETE FROM idempotency_key WHERE digest IN (
    SELECT digest FROM (
      SELECT digest, ROW_NUMBER() OVER newest AS place, SUM(bytes) OVER newest AS total
      FROM idempotency_key WHERE workspaceId = @workspaceId
      WINDOW newest AS (ORDER BY startedAt DESC, digest))
    WHERE place > @keysMax OR total > @bytesMax)`;

/**
 * Writes the response to a keyed call. Call it inside the transaction of what the call changes.
 * @throws {idempotency-in-progress} the key has been taken meanwhile: the transaction must not be
 */
export function createKeyWriter(
  { handle }: Connection,
  { keysMax, bytesMax, trimEveryKeys }: KeyBounds = defaultKeyBounds,
): (run: StoredRun) => void {
  const put = handle.prepare<[Record<string, Buffer | string | number>]>(PUT);
  const expire = handle.prepare<[string, number, number]>(EXPIRE);
  const trim = handle.prepare<[{ workspaceId: string; keysMax: number; bytesMax: number }]>(TRIM);
  let written = 0;
  return ({ response: { status, body, ...response }, ...run }) => {
    const headers = JSON.stringify(response.headers);
    const bytes = Buffer.byteLength(body) + headers.length;
    const expired = run.now - IDEMPOTENCY_TTL_MS;
    const { changes } = put.run({ ...run, status, headers, body, bytes, expired });
    if (changes === 0) refuseTaken('The first call with this `Idempotency-Key` has just ended.');
    expire.run(run.workspaceId, expired, EXPIRED_AT_ONCE);
    written += 1;
    if (written % trimEveryKeys === 0)
      trim.run({ workspaceId: run.workspaceId, keysMax, bytesMax });
  };
}
