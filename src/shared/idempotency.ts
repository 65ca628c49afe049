import { type Clock, DAY } from './clock.ts';
import { type Database, send, type Statements, type Tx } from './database.ts';
import { isTrackportError, TrackportError } from './errors.ts';
import { sha256 } from './crypto/hash.ts';

const IDEMPOTENCY_TTL_MS = DAY;
const RETRY_AFTER_SECONDS = 1;

/** A response that can be sent again. */
export type StoredResponse = { status: number; headers: Record<string, string>; body: string };

/** A request with an `Idempotency-Key`. */
export type KeyedRequest = {
  workspaceId: string;
  /** The caller: one principal's keys mean nothing to another. */
  principal: string;
  /** Method and path, without the query. */
  route: string;
  key: string;
  /** All else that the request consists of. */
  payload: unknown;
  /** Time within which it may be repeated; default 24 h, and no longer. */
  repeatableMs?: number;
};

/** A keyed request as the store knows it: by digests, without its content. */
export type KeyedCall = {
  workspaceId: string;
  /** Of workspace, principal, route and key. */
  digest: Buffer;
  fingerprint: Buffer;
  now: number;
  /** @see KeyedRequest */
  repeatableMs?: number | undefined;
};

/** A request's response with its key: written in the transaction of what the request does. */
export type StoredCall = KeyedCall & { response: StoredResponse };

type IdempotentWork = {
  /** Does what is requested, and returns the response. */
  work: (call: KeyedCall) => Promise<StoredResponse>;
  /** The work stores its response in the transaction of its change. Default: it is stored behind the work. */
  isStoredByWork?: true;
  /** A repeat waits for the first call in this process, in place of being refused; where that fails, it does the work. */
  waitsForFirst?: true;
};

/** `isReplayed`: it was stored by an earlier call. */
type IdempotentResponse = { response: StoredResponse; isReplayed: boolean };

export type Idempotency = {
  /**
   * Does `work` once per key and sends its response again to every repeat of the request for 24 hours, or as long as it
   * says. Where the work stores the response, a crash leaves both or none of them; else a repeat after a crash between
   * the two does the work again. A request that fails leaves its key free.
   * @throws {idempotency-in-progress} while the first one runs, unless the work says that a repeat waits
   * @throws {idempotency-mismatch} when the key came with another payload
   */
  respond(request: KeyedRequest, work: IdempotentWork): Promise<IdempotentResponse>;
};

export function createIdempotency({ db, clock }: { db: Database; clock: Clock }): Idempotency {
  /** The requests that this process works on. */
  const running = new Map<string, Running>();
  return {
    respond: async (request, work) => {
      const call = toKeyedCall(request, clock.now());
      const name = call.digest.toString('base64');
      for (let first = running.get(name); first; first = running.get(name)) {
        const repeated = await repeatOf(first, call, work);
        if (repeated) return repeated;
      }
      const responding = respond(db, call, work);
      running.set(name, { fingerprint: call.fingerprint, responding });
      try {
        return await responding;
      } finally {
        running.delete(name);
      }
    },
  };
}

type Running = { fingerprint: Buffer; responding: Promise<IdempotentResponse> };

/** Undefined where the first call failed. */
async function repeatOf(
  { fingerprint, responding }: Running,
  call: KeyedCall,
  { waitsForFirst = false }: { waitsForFirst?: boolean },
): Promise<IdempotentResponse | undefined> {
  if (!fingerprint.equals(call.fingerprint)) refuseMismatch();
  if (!waitsForFirst) refuseTaken('The first call with this `Idempotency-Key` is still running.');
  const responded = await responding.catch(() => undefined);
  return responded && { ...responded, isReplayed: true };
}

async function respond(
  db: Database,
  call: KeyedCall,
  work: IdempotentWork,
): Promise<IdempotentResponse> {
  return (await replay(db, call)) ?? workAndStore(db, call, work);
}

async function replay(db: Database, call: KeyedCall) {
  const found = await findCall(db, call);
  if (found.kind === 'mismatch') refuseMismatch();
  return found.kind === 'stored' ? { response: found.response, isReplayed: true } : undefined;
}

async function workAndStore(
  db: Database,
  call: KeyedCall,
  { work, isStoredByWork }: IdempotentWork,
): Promise<IdempotentResponse> {
  try {
    const response = await work(call);
    if (!isStoredByWork) await db.transaction((tx) => putCall(tx, { ...call, response }));
    return { response, isReplayed: false };
  } catch (error) {
    // Another process may have done the same work just now, which is why this one failed.
    const replayed = isTrackportError(error) && (await replay(db, call));
    if (replayed) return replayed;
    throw error;
  }
}

function toKeyedCall(
  { workspaceId, principal, route, key, payload, repeatableMs }: KeyedRequest,
  now: number,
): KeyedCall {
  return {
    workspaceId,
    digest: sha256(JSON.stringify([workspaceId, principal, route, key])),
    fingerprint: sha256(JSON.stringify(payload) ?? ''),
    now,
    repeatableMs,
  };
}

/** @throws {idempotency-in-progress} always */
function refuseTaken(detail: string): never {
  throw new TrackportError('idempotency-in-progress', {
    detail,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

function refuseMismatch(): never {
  throw new TrackportError('idempotency-mismatch', {
    detail: 'This `Idempotency-Key` was used for another request within the last 24 hours.',
  });
}

/** Bounds of one workspace. Counting is dear: they may be exceeded by `trimEveryKeys`. */
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

/** An earlier call is no first one of it. */
function expiredBefore({ now, repeatableMs = IDEMPOTENCY_TTL_MS }: KeyedCall): number {
  return now - repeatableMs;
}

type KeyRow = { fingerprint: Buffer; status: number; headers: string; body: string };

/** Finds the response that is stored for a key; `mismatch` when that is for another request. @throws {store-unavailable} */
export async function findCall(
  db: Statements,
  call: KeyedCall,
): Promise<
  { kind: 'nothing' } | { kind: 'mismatch' } | { kind: 'stored'; response: StoredResponse }
> {
  const row = await db.get<KeyRow>(FIND, { digest: call.digest, expired: expiredBefore(call) });
  if (!row) return { kind: 'nothing' };
  const { fingerprint, headers, ...rest } = row;
  if (!fingerprint.equals(call.fingerprint)) return { kind: 'mismatch' };
  return { kind: 'stored', response: { ...rest, headers: JSON.parse(headers) } };
}

/**
 * Writes the response to a keyed call. Call it inside the transaction of what the call changes.
 * @throws {idempotency-in-progress} the key has been taken meanwhile: the transaction must not be
 */
export async function putCall(
  tx: Tx,
  { response, ...call }: StoredCall,
  { trimEveryKeys, ...bounds } = BOUNDS,
): Promise<void> {
  const headers = JSON.stringify(response.headers);
  const bytes = Buffer.byteLength(response.body) + headers.length;
  const expired = expiredBefore(call);
  const changes = await tx.run(PUT, { ...call, ...response, headers, bytes, expired });
  if (changes === 0) refuseTaken('The first call with this `Idempotency-Key` has just ended.');
  send(tx, EXPIRE, {
    workspaceId: call.workspaceId,
    expired: call.now - IDEMPOTENCY_TTL_MS, // of all others, too
  });
  // One key in so many, by chance: digests are evenly spread.
  if ((call.digest.at(-1) ?? 0) % trimEveryKeys === 0)
    send(tx, TRIM, { workspaceId: call.workspaceId, ...bounds });
}
