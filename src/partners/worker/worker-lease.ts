import { type Clock, SECOND } from '#shared/clock.ts';
import type { Statements } from '#shared/database.ts';
import type { WorkerLease } from './background-work.ts';

/** Right of whoever has the store for itself: there is nobody to share its work with. */
export const ownWork: WorkerLease = {
  take: async () => true,
  ask: async () => undefined,
  isAsked: async () => false,
  release: async () => undefined,
};

/** Length of a lease that its holder does not renew. */
const LEASE_MS = 15 * SECOND;
/** Each renewal is a write to the disk. */
const RENEW_EVERY_MS = 4 * SECOND;

type Lease = {
  /** Undefined: nobody. */
  holder?: string;
  /** Another one after each renewal. */
  until: string;
  isOver: boolean;
  /** Another instance would do what its holder cannot. */
  isAsked: boolean;
};

const LENGTH = `make_interval(secs => ${LEASE_MS / SECOND})`;

/** An end that is further away than a lease lasts was set by a server's clock that was wrong. */
const READ = `
  SELECT holder, is_asked, until::text AS until,
    until NOT BETWEEN clock_timestamp() AND clock_timestamp() + ${LENGTH} AS is_over FROM worker_lease`;

/** Nobody, when anything was said about the lease since it was seen. */
const TAKE = `
  UPDATE worker_lease SET holder = @instance, is_asked = is_asked AND holder IS NOT DISTINCT FROM @instance,
    until = clock_timestamp() + ${LENGTH}
  WHERE holder IS NOT DISTINCT FROM @holder AND until::text = @until`;

const ASK = 'UPDATE worker_lease SET is_asked = true WHERE NOT is_asked';

const RELEASE = `
  UPDATE worker_lease SET holder = NULL, until = '-infinity' WHERE holder = @instance`;

/**
 * The right to work on a store: a row that its holder keeps by taking it again in time. It hangs on no
 * connection, which may live on at a server for hours, and on the server's clock, which is one for all instances.
 */
export function createWorkerLease({
  database,
  instance,
  clock,
}: {
  database: Statements;
  /** Another one for each instance and start. */
  instance: string;
  clock: Clock;
}): WorkerLease {
  const find = () => database.get<Lease>(READ);
  let renewedAtMs = -Infinity;
  return {
    take: async () => {
      const lease = await find();
      if (!lease) throw new Error('the worker has no lease to take');
      const { holder, until, isOver } = lease;
      const isOurs = holder === instance;
      if (isOurs && clock.monotonicMs() - renewedAtMs < RENEW_EVERY_MS) return true;
      if (!isOurs && !isOver) return false;
      const isTaken = (await database.run(TAKE, { instance, holder, until })) === 1;
      if (isTaken) renewedAtMs = clock.monotonicMs();
      return isTaken;
    },
    ask: async () => void (await database.run(ASK)),
    isAsked: async () => (await find())?.isAsked === true,
    // A store that is away is no reason not to stop: the lease ends by itself.
    release: async () => void (await database.run(RELEASE, { instance }).catch(() => undefined)),
  };
}
