import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import {
  IDEMPOTENCY_KEPT_MS,
  type Begun,
  type IdempotencyStore,
  type KeptAnswer,
  type KeyedRun,
} from '#catalog/idempotency.ts';
import type { Database } from './database.ts';
import { guard } from './errors.ts';

/** What a workspace may keep. */
type Bounds = {
  keysMax: number;
  bytesMax: number;
  /** Counting is dear, so that the bounds may be exceeded by this many keys. */
  trimEvery: number;
};

const defaultBounds: Bounds = { keysMax: 10_000, bytesMax: 64 * 1024 * 1024, trimEvery: 100 };
/** A little of what is too old goes with every new key. */
const EXPIRED_AT_ONCE = 20;

type KeyRow = {
  fingerprint: Buffer;
  startedAt: number;
  leaseUntil: number | null;
  status: number | null;
  headers: string | null;
  body: Buffer | null;
};

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Keeps what was answered to idempotency keys, compressed. */
export function createIdempotencyStore(
  database: Database,
  { keysMax, bytesMax, trimEvery }: Bounds = defaultBounds,
): IdempotencyStore {
  const statements = prepare(database);
  let kept = 0;
  return {
    begin: async (run) => {
      const row = database.transaction(() => begin(statements, run));
      return row ? toBegun(row, run) : { kind: 'first' };
    },
    keep: async (run, { status, headers, body }) => {
      const packed = await compress(body, { level: 1 });
      const texts = JSON.stringify(headers);
      kept += 1;
      database.transaction(() => {
        const bytes = packed.length + texts.length;
        statements.keep.run(status, texts, packed, bytes, run.digest, run.leaseUntil);
        if (kept % trimEvery === 0)
          statements.trim.run({ workspaceId: run.workspaceId, keysMax, bytesMax });
      });
    },
    release: async (run) => {
      guard(() => statements.release.run(run.digest, run.leaseUntil));
    },
  };
}

function prepare({ handle }: Database) {
  return {
    find: handle.prepare<[Buffer], KeyRow>(
      'SELECT fingerprint, startedAt, leaseUntil, status, headers, body FROM idempotency_key WHERE digest = ?',
    ),
    put: handle.prepare<[Omit<KeyedRun, 'now'> & { now: number }]>(
      `INSERT INTO idempotency_key (digest, workspaceId, fingerprint, startedAt, leaseUntil)
       VALUES (@digest, @workspaceId, @fingerprint, @now, @leaseUntil)
       ON CONFLICT (digest) DO UPDATE SET
         fingerprint = excluded.fingerprint, startedAt = excluded.startedAt,
         leaseUntil = excluded.leaseUntil, status = NULL, headers = NULL, body = NULL, bytes = 0`,
    ),
    /** A call that outlived its lease does not touch the row of the one that took over. */
    keep: handle.prepare<[number, string, Buffer, number, Buffer, number]>(
      `UPDATE idempotency_key SET leaseUntil = NULL, status = ?, headers = ?, body = ?, bytes = ?
       WHERE digest = ? AND leaseUntil = ?`,
    ),
    release: handle.prepare<[Buffer, number]>(
      'DELETE FROM idempotency_key WHERE digest = ? AND leaseUntil = ?',
    ),
    expire: handle.prepare<[string, number, number]>(
      `DELETE FROM idempotency_key WHERE digest IN (
         SELECT digest FROM idempotency_key WHERE workspaceId = ? AND startedAt < ?
         ORDER BY startedAt LIMIT ?)`,
    ),
    trim: handle.prepare<[{ workspaceId: string; keysMax: number; bytesMax: number }]>(
      `DELETE FROM idempotency_key WHERE digest IN (
         SELECT digest FROM (
           SELECT digest, ROW_NUMBER() OVER newest AS place, SUM(bytes) OVER newest AS total
           FROM idempotency_key WHERE workspaceId = @workspaceId
           WINDOW newest AS (ORDER BY startedAt DESC, digest))
         WHERE place > @keysMax OR total > @bytesMax)`,
    ),
  };
}

/** The row that stands in the way; undefined when the key is now ours. */
function begin(statements: ReturnType<typeof prepare>, run: KeyedRun): KeyRow | undefined {
  const { workspaceId, now } = run;
  statements.expire.run(workspaceId, now - IDEMPOTENCY_KEPT_MS, EXPIRED_AT_ONCE);
  const row = statements.find.get(run.digest);
  if (row && isInForce(row, now)) return row;
  statements.put.run(run);
  return undefined;
}

function isInForce({ startedAt, leaseUntil }: KeyRow, now: number): boolean {
  return leaseUntil === null ? startedAt >= now - IDEMPOTENCY_KEPT_MS : leaseUntil > now;
}

async function toBegun(row: KeyRow, run: KeyedRun): Promise<Begun> {
  if (!row.fingerprint.equals(run.fingerprint)) return { kind: 'mismatch' };
  if (row.leaseUntil !== null) return { kind: 'running' };
  return { kind: 'kept', answer: await toAnswer(row) };
}

async function toAnswer({ status, headers, body }: KeyRow): Promise<KeptAnswer> {
  if (status === null || headers === null || body === null)
    throw new Error('a settled idempotency key has no answer');
  const text = await decompress(body);
  return { status, headers: JSON.parse(headers), body: text.toString('utf8') };
}
