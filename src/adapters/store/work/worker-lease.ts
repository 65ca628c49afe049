import type { WorkerLease } from '#partners/worker/background-work.ts';
import { type Clock, SECOND } from '#shared/clock.ts';
import { bindWrites, either, type Session, type StoreDatabase } from '../session.ts';

export type WorkerLeaseDeps = {
  database: StoreDatabase;
  /** Another one for each process and start. */
  instance: string;
  clock: Pick<Clock, 'monotonicMs'>;
};

/** How long it stays with a process that does not say again that it wants it. */
const PROCESS_LEASE_MS = 15 * SECOND;
/** Each renewal is a write to the disk. */
const RENEW_EVERY_MS = 4 * SECOND;
/** Who did not look for so long has not seen what the holder said meanwhile. */
const LOOK_GAP_MAX_MS = PROCESS_LEASE_MS / 2;

type Lease = {
  /** Undefined: nobody. */
  holder?: string;
  /** Another one after each renewal. */
  beat: string | number;
  /** Nobody has it, or its time is over by the server's clock, which is one for all instances. */
  isOver: boolean;
  /** Another process would do what its holder cannot. */
  isAsked: boolean;
};

const BEAT = either('until::text', 'beat');

const READ = `
  SELECT holder, is_asked, ${BEAT} AS beat,
    ${either('until < clock_timestamp()', 'holder IS NULL')} AS is_over FROM worker_lease`;

const TAKE = `
  UPDATE worker_lease SET holder = @instance, is_asked = is_asked AND holder IS NOT DISTINCT FROM @instance,
    ${either(`until = clock_timestamp() + make_interval(secs => ${PROCESS_LEASE_MS / SECOND})`, 'beat = beat + 1')}
  WHERE holder IS NOT DISTINCT FROM @holder AND ${BEAT} = @beat`;

const ASK = 'UPDATE worker_lease SET is_asked = true WHERE NOT is_asked';

const RELEASE = `
  UPDATE worker_lease SET holder = NULL${either(", until = '-infinity'", '')} WHERE holder = @instance`;

export const leaseWrites = {
  /** False when anything was said about the lease since it was `seen`. */
  take: async (session: Session, instance: string, { holder, beat }: Lease): Promise<boolean> =>
    (await session.run(TAKE, { instance, holder, beat })) === 1,
  ask: async (session: Session): Promise<void> => void (await session.run(ASK)),
  release: async (session: Session, instance: string): Promise<void> =>
    void (await session.run(RELEASE, { instance })),
};

/**
 * The right to work on a store: a row that its holder keeps by taking it again in time. It hangs on no
 * connection, which may live on at a server for hours, and on no clock that can be set: it ends when others
 * have seen it unrenewed for 15 s, each by a monotonic clock of its own, or by the clock of PostgreSQL's server.
 */
export function createWorkerLease({ database, instance, clock }: WorkerLeaseDeps): WorkerLease {
  const writes = bindWrites(database.writer.call, 'worker-lease', leaseWrites);
  const find = () => database.get<Lease>(READ);
  const isUnrenewed = createRenewalWatch(clock);
  let renewedAtMs = -Infinity;

  const isFree = (lease: Lease): boolean => lease.isOver || isUnrenewed(lease);
  return {
    take: async () => {
      const lease = await find();
      if (!lease) throw new Error('the worker has no lease to take');
      const isOurs = lease.holder === instance;
      if (isOurs && clock.monotonicMs() - renewedAtMs < RENEW_EVERY_MS) return true;
      if (!isOurs && !isFree(lease)) return false;
      const isTaken = await writes.take(instance, lease);
      if (isTaken) renewedAtMs = clock.monotonicMs();
      return isTaken;
    },
    ask: () => writes.ask(),
    isAsked: async () => (await find())?.isAsked === true,
    // A store that is away is no reason not to stop: the lease ends by itself.
    release: () => writes.release(instance).catch(() => undefined),
  };
}

/** Whether a lease was seen without a renewal for as long as it lasts. */
function createRenewalWatch(clock: WorkerLeaseDeps['clock']): (lease: Lease) => boolean {
  let seen: { beat: Lease['beat']; sinceMs: number; lookedAtMs: number } | undefined;
  return ({ beat }) => {
    const nowMs = clock.monotonicMs();
    const isSame = seen?.beat === beat && nowMs - seen.lookedAtMs <= LOOK_GAP_MAX_MS;
    const sinceMs = isSame && seen ? seen.sinceMs : nowMs;
    seen = { beat, sinceMs, lookedAtMs: nowMs };
    return nowMs - sinceMs >= PROCESS_LEASE_MS;
  };
}
