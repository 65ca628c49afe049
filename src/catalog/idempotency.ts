import { MINUTE, type Clock } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { sha256 } from '#shared/hash.ts';

/** How long a result is kept for its key. */
export const IDEMPOTENCY_KEPT_MS = 24 * 60 * MINUTE;
/** Longer than any call takes: after it, a call that left nothing behind is taken for crashed. */
const LEASE_MS = MINUTE;
const RETRY_AFTER_SECONDS = 1;

/** An answer that can be given again. */
export type KeptAnswer = { status: number; headers: Record<string, string>; body: string };

/** A call with an `Idempotency-Key`. */
export type KeyedCall = {
  workspaceId: string;
  /** Who calls: one principal's keys mean nothing to another. */
  principal: string;
  /** Method and path, without the query. */
  route: string;
  key: string;
  /** All else that the call consists of. */
  payload: unknown;
};

export type Begun =
  | { kind: 'first' }
  | { kind: 'running' }
  | { kind: 'mismatch' }
  | { kind: 'kept'; answer: KeptAnswer };

export type KeyedRun = {
  workspaceId: string;
  /** Of workspace, principal, route and key. */
  digest: Buffer;
  fingerprint: Buffer;
  now: number;
  leaseUntil: number;
};

/**
 * Keeps answers for idempotency keys, in a bounded number and size per workspace, the newest ones.
 * All throw `store-unavailable`.
 */
export type IdempotencyStore = {
  /** Takes the key, unless it is taken: by a call that runs, or by one whose answer is kept. */
  begin(run: KeyedRun): Promise<Begun>;
  keep(run: KeyedRun, answer: KeptAnswer): Promise<void>;
  /** Frees the key of a call that failed: it changed nothing. */
  release(run: KeyedRun): Promise<void>;
};

export type IdempotencyDeps = { store: IdempotencyStore; clock: Pick<Clock, 'now'> };

/**
 * Does `work` once per key and gives its answer again to every repeat of the same call for 24 hours.
 * A call that fails leaves its key free.
 * @throws {idempotency-in-progress} while the first call runs
 * @throws {idempotency-mismatch} when the key came with another payload
 */
export async function runOnce(
  { store, clock }: IdempotencyDeps,
  call: KeyedCall,
  work: () => Promise<KeptAnswer>,
): Promise<{ answer: KeptAnswer; replayed: boolean }> {
  const run = toRun(call, clock.now());
  const begun = await store.begin(run);
  if (begun.kind === 'running') refuseRunning();
  if (begun.kind === 'mismatch') refuseMismatch();
  if (begun.kind === 'kept') return { answer: begun.answer, replayed: true };
  const answer = await work().catch(async (error: unknown) => {
    // Why the work failed tells more than why its key could not be freed: the lease frees it soon.
    await store.release(run).catch(() => undefined);
    throw error;
  });
  // The work is done whether or not its answer can be kept: a failure here must not hide that.
  await store.keep(run, answer).catch(() => undefined);
  return { answer, replayed: false };
}

function toRun({ workspaceId, principal, route, key, payload }: KeyedCall, now: number): KeyedRun {
  return {
    workspaceId,
    digest: sha256(JSON.stringify([workspaceId, principal, route, key])),
    fingerprint: sha256(JSON.stringify(payload) ?? ''),
    now,
    leaseUntil: now + LEASE_MS,
  };
}

function refuseRunning(): never {
  throw new TrackportError('idempotency-in-progress', {
    detail: 'The first call with this `Idempotency-Key` is still running.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

function refuseMismatch(): never {
  throw new TrackportError('idempotency-mismatch', {
    detail: 'This `Idempotency-Key` was used for another request within the last 24 hours.',
  });
}
