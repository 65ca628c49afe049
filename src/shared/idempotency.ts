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
export type KeyedCall = {
  workspaceId: string;
  /** Of workspace, principal, route and key. */
  digest: Buffer;
  fingerprint: Buffer;
  now: number;
};

/** A request's response with its key: written in the transaction of what the request does. */
export type StoredCall = KeyedCall & { response: StoredResponse };

/**
 * Stores responses for idempotency keys, in a bounded number and size per workspace, the newest
 * ones. Both throw `store-unavailable`.
 */
export type IdempotencyStore = {
  find(
    call: KeyedCall,
  ): Promise<
    { kind: 'nothing' } | { kind: 'mismatch' } | { kind: 'stored'; response: StoredResponse }
  >;
  /**
   * For the response to a request whose work does not store it with its change.
   * @throws {idempotency-in-progress} the key has been taken meanwhile
   */
  put(call: StoredCall): Promise<void>;
};

export type IdempotentWork<View> = {
  /** Does what is requested. */
  work: (call: KeyedCall) => Promise<View>;
  render: (view: View) => StoredResponse;
  /** The work stores a response in the transaction of its change. Default: it is stored behind the work. */
  isStoredByWork?: true;
};

/** `isReplayed`: it was stored by an earlier call. */
type IdempotentResponse = { response: StoredResponse; isReplayed: boolean };

export type Idempotency = {
  /**
   * Does `work` once per key and sends its response again to every duplicate of the request for 24
   * hours. The response is committed with what the request changed, so that a crash leaves both or
   * none of them. A request that fails leaves its key free.
   * @throws {idempotency-in-progress} while the first one runs
   * @throws {idempotency-mismatch} when the key came with another payload
   */
  respond<View>(request: KeyedRequest, work: IdempotentWork<View>): Promise<IdempotentResponse>;
};

export function createIdempotency({
  store,
  clock,
}: {
  store: IdempotencyStore;
  clock: Pick<Clock, 'now'>;
}): Idempotency {
  /** Fingerprints of the requests that this process works on. */
  const running = new Map<string, Buffer>();
  return {
    respond: async (request, work) => {
      const call = toKeyedCall(request, clock.now());
      const name = call.digest.toString('base64');
      refuseRunning(running.get(name), call);
      running.set(name, call.fingerprint);
      try {
        return (await replay(store, call)) ?? (await workAndStore(store, call, work));
      } finally {
        running.delete(name);
      }
    },
  };
}

async function replay(store: IdempotencyStore, call: KeyedCall) {
  const found = await store.find(call);
  if (found.kind === 'mismatch') refuseMismatch();
  return found.kind === 'stored' ? { response: found.response, isReplayed: true } : undefined;
}

async function workAndStore<View>(
  store: IdempotencyStore,
  call: KeyedCall,
  { work, render, isStoredByWork }: IdempotentWork<View>,
): Promise<IdempotentResponse> {
  try {
    const response = render(await work(call));
    if (!isStoredByWork) await store.put({ ...call, response });
    return { response, isReplayed: false };
  } catch (error) {
    // Another process may have done the same work just now, which is why this one failed.
    const replayed = isTrackportError(error) && (await replay(store, call));
    if (replayed) return replayed;
    throw error;
  }
}

function toKeyedCall(
  { workspaceId, principal, route, key, payload }: KeyedRequest,
  now: number,
): KeyedCall {
  return {
    workspaceId,
    digest: sha256(JSON.stringify([workspaceId, principal, route, key])),
    fingerprint: sha256(JSON.stringify(payload) ?? ''),
    now,
  };
}

function refuseRunning(running: Buffer | undefined, { fingerprint }: KeyedCall): void {
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
