import { DAY, type Clock } from './clock.ts';
import { isTrackportError, TrackportError } from './errors.ts';
import { sha256 } from './hash.ts';

/** How long an answer is kept for its key. */
export const IDEMPOTENCY_KEPT_MS = DAY;
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

/** What a store knows of a keyed call. */
export type KeyedRun = {
  workspaceId: string;
  /** Of workspace, principal, route and key. */
  digest: Buffer;
  fingerprint: Buffer;
  now: number;
};

/** A call's answer with its key: written in the transaction of what the call does. */
export type KeptRun = KeyedRun & { answer: KeptAnswer };

export type Found =
  | { kind: 'nothing' }
  | { kind: 'mismatch' }
  | { kind: 'kept'; answer: KeptAnswer };

/**
 * Keeps answers for idempotency keys, in a bounded number and size per workspace, the newest ones.
 * Both throw `store-unavailable`.
 */
export type IdempotencyStore = {
  find(run: KeyedRun): Promise<Found>;
  /**
   * For an answer to a call that changed nothing; others go with their change.
   * @throws {idempotency-in-progress} the key has been taken meanwhile
   */
  put(kept: KeptRun): Promise<void>;
};

/** Renders the answer that is kept and returns it with its key, for the change's transaction. */
export type Keep<View> = (view: View) => KeptRun;

export type IdempotentWork<View> = {
  /** Does what is asked, with `keep` as part of the change. */
  work: (keep: Keep<View>) => Promise<View>;
  render: (view: View) => KeptAnswer;
  /** What is kept for repeats where the first answer holds a secret. Default: that answer. */
  renderKept?: (view: View) => KeptAnswer;
};

/** `replayed`: it is what was kept of an earlier call. */
export type GivenAnswer = { answer: KeptAnswer; replayed: boolean };

export type Idempotency = {
  /**
   * Does `work` once per key and gives its answer again to every repeat of the same call for 24
   * hours. The answer is committed with what the call changed, so that a crash leaves both or none
   * of them. A call that fails leaves its key free.
   * @throws {idempotency-in-progress} while the first call runs
   * @throws {idempotency-mismatch} when the key came with another payload
   */
  once<View>(call: KeyedCall, work: IdempotentWork<View>): Promise<GivenAnswer>;
};

export type IdempotencyDeps = { store: IdempotencyStore; clock: Pick<Clock, 'now'> };

export function createIdempotency({ store, clock }: IdempotencyDeps): Idempotency {
  /** Fingerprints of the calls that this process is at. */
  const running = new Map<string, Buffer>();
  return {
    once: async (call, work) => {
      const run = toRun(call, clock.now());
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
  return found.kind === 'kept' ? { answer: found.answer, replayed: true } : undefined;
}

async function workOnce<View>(
  store: IdempotencyStore,
  run: KeyedRun,
  { work, render, renderKept }: IdempotentWork<View>,
): Promise<GivenAnswer> {
  let answer: KeptAnswer | undefined;
  const keep: Keep<View> = (view) => {
    answer = render(view);
    return { ...run, answer: renderKept?.(view) ?? answer };
  };
  try {
    const view = await work(keep);
    if (!answer) await store.put(keep(view));
    return { answer: answer ?? render(view), replayed: false };
  } catch (error) {
    // Another process may have done the same call just now, which is why this one failed.
    const replayed = isTrackportError(error) && (await replay(store, run));
    if (replayed) return replayed;
    throw error;
  }
}

function toRun({ workspaceId, principal, route, key, payload }: KeyedCall, now: number): KeyedRun {
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
