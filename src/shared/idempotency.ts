import { type Clock, DAY } from './clock.ts';
import { isTrackportError, TrackportError } from './errors.ts';
import { sha256 } from './crypto/hash.ts';

/** How long a response is stored for its key. */
export const IDEMPOTENCY_TTL_MS = DAY;
const RETRY_AFTER_SECONDS = 1;

/** A response that can be sent again. */
export type StoredResponse = { status: number; headers: Record<string, string>; body: string };

/** A request with an `Idempotency-Key`. */
export type KeyedRequest = {
  workspaceId: string;
  /** Who calls: one principal's keys mean nothing to another. */
  principal: string;
  /** Method and path, without the query. */
  route: string;
  key: string;
  /** All else that the request consists of. */
  payload: unknown;
};

/** What a store knows of a keyed call. */
export type KeyedRun = {
  workspaceId: string;
  /** Of workspace, principal, route and key. */
  digest: Buffer;
  fingerprint: Buffer;
  now: number;
};

/** A request's response with its key: written in the transaction of what the request does. */
export type StoredRun = KeyedRun & { response: StoredResponse };

type Found =
  | { kind: 'nothing' }
  | { kind: 'mismatch' }
  | { kind: 'stored'; response: StoredResponse };

/**
 * Stores responses for idempotency keys, in a bounded number and size per workspace, the newest
 * ones. Both throw `store-unavailable`.
 */
export type IdempotencyStore = {
  find(run: KeyedRun): Promise<Found>;
  /**
   * For the response to a request whose work does not store it with its change.
   * @throws {idempotency-in-progress} the key has been taken meanwhile
   */
  put(run: StoredRun): Promise<void>;
};

export type IdempotentWork<View> = {
  /** Does what is requested. */
  work: (run: KeyedRun) => Promise<View>;
  render: (view: View) => StoredResponse;
  /** The work stores a response in the transaction of its change. Default: it is stored behind the work. */
  isStoredByWork?: true;
};

/** `isReplayed`: it was stored by an earlier call. */
export type IdempotentResponse = { response: StoredResponse; isReplayed: boolean };

export type Idempotency = {
  /**
   * Does `work` once per key and sends its response again to every duplicate of the request for 24
   * hours. The response is committed with what the request changed, so that a crash leaves both or
   * none of them. A request that fails leaves its key free.
   * @throws {idempotency-in-progress} while the first one runs
   * @throws {idempotency-mismatch} when the key came with another payload
   */
  once<View>(request: KeyedRequest, work: IdempotentWork<View>): Promise<IdempotentResponse>;
};

export type IdempotencyDeps = { store: IdempotencyStore; clock: Pick<Clock, 'now'> };

export function createIdempotency({ store, clock }: IdempotencyDeps): Idempotency {
  /** Fingerprints of the requests that this process works on. */
  const running = new Map<string, Buffer>();
  return {
    once: async (request, work) => {
      const run = toRun(request, clock.now());
      const name = run.digest.toString('base64');
      refuseRunning(running.get(name), run);
      running.set(name, run.fingerprint);
      try {
        return (await replay(store, run)) ?? (await workOnce(store, run, work));
      } finally {
        running.delete(name);
      }
    },
  };
}

async function replay(store: IdempotencyStore, run: KeyedRun) {
  const found = await store.find(run);
  if (found.kind === 'mismatch') refuseMismatch();
  return found.kind === 'stored' ? { response: found.response, isReplayed: true } : undefined;
}

async function workOnce<View>(
  store: IdempotencyStore,
  run: KeyedRun,
  { work, render, isStoredByWork }: IdempotentWork<View>,
): Promise<IdempotentResponse> {
  try {
    const response = render(await work(run));
    if (!isStoredByWork) await store.put({ ...run, response });
    return { response, isReplayed: false };
  } catch (error) {
    // Another process may have done the same work just now, which is why this one failed.
    const replayed = isTrackportError(error) && (await replay(store, run));
    if (replayed) return replayed;
    throw error;
  }
}

function toRun(
  { workspaceId, principal, route, key, payload }: KeyedRequest,
  now: number,
): KeyedRun {
  return {
    workspaceId,
    digest: sha256(JSON.stringify([workspaceId, principal, route, key])),
    fingerprint: sha256(JSON.stringify(payload) ?? ''),
    now,
  };
}

function refuseRunning(running: Buffer | undefined, { fingerprint }: KeyedRun): void {
  if (running === undefined) return;
  if (!running.equals(fingerprint)) refuseMismatch();
  refuseTaken('The first call with this `Idempotency-Key` is still running.');
}

/** @throws {idempotency-in-progress} always */
export function refuseTaken(detail: string): never {
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
