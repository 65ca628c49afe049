import { realpathSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import type { WorkerLock } from '#partners/worker/worker-lock.ts';
import { SECOND } from '#shared/clock.ts';
import type { Clock } from '#shared/clock.ts';
import { createPrivately } from '../connection/store-file.ts';
import type { Database } from '../connection/database.ts';
import { guard, isBusy } from '../connection/errors.ts';
import { bindWrites } from '../../store/session.ts';
import { leaseWrites, READ_LEASE } from '../store-writes.ts';
import type { Lease } from '../store-writes.ts';

export type WorkerLockDeps = {
  database: Database;
  /** Another one for each process and start. */
  instance: string;
  clock: Pick<Clock, 'monotonicMs'>;
};

/** How long it stays with a process that does not say again that it wants it. */
const LEASE_MS = 15 * SECOND;
/** Each renewal is a write to the disk. */
const RENEW_EVERY_MS = 4 * SECOND;
/** Who did not look for so long has not seen what the holder said meanwhile. */
const LOOK_GAP_MAX_MS = LEASE_MS / 2;

/**
 * The right to work on a SQLite file: a lease in the store, and a lock on an empty file beside it. The
 * operating system ends the lock with the process that has it, so that a process that was killed is
 * followed at once. One that is frozen keeps the lock; its lease ends when others have seen it
 * unrenewed for 15 s, each by a monotonic clock of its own, which no one can set.
 */
export function createWorkerLock(deps: WorkerLockDeps): WorkerLock {
  const { database, instance, clock } = deps;
  const writes = bindWrites(database, 'worker-lease', leaseWrites);
  const find = () => database.get<Lease>(READ_LEASE);
  const isOverdue = createWatch(clock);
  let lock: BetterSqlite3.Database | undefined;
  let renewedAtMs = -Infinity;

  const hasFile = (): boolean => lock !== undefined;
  const letGo = (): void => {
    lock?.close();
    lock = undefined;
  };
  const noteRenewal = (isMine: boolean): boolean => {
    if (isMine) renewedAtMs = clock.monotonicMs();
    return isMine;
  };
  const renew = async ({ hasLock }: Lease): Promise<boolean> => {
    const isDue = clock.monotonicMs() - renewedAtMs >= RENEW_EVERY_MS;
    if (!isDue && hasLock === hasFile()) return true;
    return noteRenewal(await writes.renew(instance, hasFile()));
  };
  const takeOver = async (lease: Lease): Promise<boolean> => {
    if (!isLeft(lease, hasFile()) && !isOverdue(lease)) return false;
    return noteRenewal(await writes.take(instance, { seen: lease, hasLock: hasFile() }));
  };
  return {
    take: async () => {
      lock ??= guard(() => tryLock(database.handle.name));
      const lease = await find();
      if (!lease) throw new Error('the worker has no lease to take');
      const isMine = await (lease.holder === instance ? renew(lease) : takeOver(lease));
      if (!isMine) letGo(); // whoever has the lease shall have the lock
      return isMine;
    },
    ask: () => writes.ask(),
    isAsked: async () => (await find())?.isAsked === true,
    release: async () => {
      // A store that is away is no reason not to stop: the lock ends, and others see it.
      await writes.release(instance).catch(() => undefined);
      letGo();
    },
  };
}

/** Without a look at the time: its holder has given it back, or has ended. */
function isLeft({ holder, hasLock }: Lease, haveLock: boolean): boolean {
  if (haveLock) return hasLock || holder === null;
  // With its lock in other hands: those of a process that was followed, or of an older program.
  return !hasLock && holder === null;
}

/** Whether a lease that somebody has was seen without a renewal for as long as it lasts. */
function createWatch(clock: WorkerLockDeps['clock']): (lease: Lease) => boolean {
  let seen: { lease: Lease; sinceMs: number; lookedAtMs: number } | undefined;
  return (lease) => {
    const nowMs = clock.monotonicMs();
    const isSame =
      seen?.lease.holder === lease.holder &&
      seen.lease.beat === lease.beat &&
      nowMs - seen.lookedAtMs <= LOOK_GAP_MAX_MS;
    const sinceMs = isSame && seen ? seen.sinceMs : nowMs;
    seen = { lease, sinceMs, lookedAtMs: nowMs };
    return lease.holder !== null && nowMs - sinceMs >= LEASE_MS;
  };
}

/** A connection that holds the file beside the store exclusively; undefined when another one does. */
function tryLock(store: string): BetterSqlite3.Database | undefined {
  const file = `${realpathSync(store)}-worker`; // one lock for all names of a store
  createPrivately(file);
  const handle = new BetterSqlite3(file, { timeout: 0 });
  try {
    handle.exec('BEGIN EXCLUSIVE'); // nothing is written: only the lock is wanted
    return handle;
  } catch (error) {
    handle.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
}
