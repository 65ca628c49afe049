/** Background work of a store, which one instance does at a time under a lease while all others stand by. */
import { type Clock, SECOND, sleepUntilAborted } from '#shared/clock.ts';
import { errorFields, type Log } from '#shared/log.ts';
import type { Statements } from '#shared/database.ts';

/**
 * Right to be the one instance that does a store's background work. It leaves a holder that does not `take` it again for
 * 15 seconds.
 */
export type WorkerLease = {
  /** True when this instance has it, from now on or still. Never waits. @throws {store-unavailable} */
  take(): Promise<boolean>;
  /**
   * Asks who has it to release it: this instance knows partners that the other one lacks. A file is rolled out to one
   * instance after the other, and an older one may work for days: acknowledged deletions must not wait for its end. It
   * is asked, and not overtaken, so that it ends its step first: two that work would comment on an issue twice.
   */
  ask(): Promise<void>;
  /** True when another instance has asked since somebody took it last. */
  isAsked(): Promise<boolean>;
  /** Idempotent. */
  release(): Promise<void>;
};

/** Work that only one instance of a store may do at a time. */
type Jobs = {
  /** Called again when it failed, and after `stop`. @throws {store-unavailable} */
  start(): Promise<void>;
  /** Called now and then while another instance does the work. True: this one can do what that one cannot. */
  standBy(): Promise<boolean>;
  /** Also when nothing was started. Resolves when nothing is under way any more. */
  stop(): Promise<void>;
};

/** Lets one instance of a store work, and the others stand by to take over. */
export type BackgroundWork = {
  /** Works, or stands by. @throws {store-unavailable} */
  start(): Promise<void>;
  state(): 'working' | 'standby' | 'stopped';
  /** Ends the work first and gives the right to it back then. Idempotent. */
  stop(): Promise<void>;
};

/** One of the instances that have a store open. */
type StoreInstance = { lease: WorkerLease; jobs: Jobs; clock: Clock; log: Log };

/** Interval at which an instance that stands by looks whether the other one is gone. */
const TRY_EVERY_MS = 2 * SECOND;
/** Time for which an instance that was asked for the work leaves it alone: the other one looks three times. */
const LEFT_TO_OTHERS_MS = 3 * TRY_EVERY_MS;

export function createBackgroundWork({ lease, jobs, clock, log }: StoreInstance): BackgroundWork {
  const stopping = new AbortController();
  let state: ReturnType<BackgroundWork['state']> = 'stopped';
  let running: Promise<void> | undefined;

  const begin = async (): Promise<boolean> => {
    if (!(await lease.take())) return false;
    await jobs.start();
    state = 'working';
    return true;
  };
  const pause = (): Promise<void> => sleepUntilAborted(clock, TRY_EVERY_MS, stopping.signal);

  /** Until this instance stops, or another one has the right to work, or asks for it. */
  const work = async (): Promise<void> => {
    let isAsked = false;
    do {
      await pause();
      isAsked = await lease.isAsked().catch(() => false);
    } while (!stopping.signal.aborted && !isAsked && (await isOurs(lease)));
    if (stopping.signal.aborted) return;
    const why = isAsked ? 'knows partners that this one lacks' : 'has taken over';
    log.warn({}, `another instance ${why}: this one stands by`);
    state = 'standby';
    await jobs.stop();
    if (!isAsked) return;
    await lease.release();
    await sleepUntilAborted(clock, LEFT_TO_OTHERS_MS, stopping.signal);
  };
  const standBy = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        if (await jobs.standBy()) await lease.ask();
        if (await begin())
          return log.info({}, 'no other instance works on this store any more: this one does');
      } catch (error) {
        log.error(errorFields(error), 'the work on the store could not be taken over');
      }
      await pause();
    }
  };
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) await (state === 'working' ? work() : standBy());
  };

  return {
    start: async () => {
      if (!(await begin())) {
        state = 'standby';
        log.info({}, 'another instance works on this store: this one stands by');
      }
      running = run();
    },
    state: () => state,
    stop: async () => {
      stopping.abort(new Error('the work stops'));
      await running;
      await jobs.stop();
      state = 'stopped';
      await lease.release();
    },
  };
}

/** Without the store nobody can know: then nothing can be written either, and every lease is fenced. */
function isOurs(lease: WorkerLease): Promise<boolean> {
  return lease.take().catch(() => true);
}

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
