import { SECOND } from '#shared/clock.ts';
import type { WorkerLock } from '#partners/worker/worker-lock.ts';
import type { Session } from '../connection/database.ts';

/**
 * How long it stays with an instance that does not say again that it wants it: one that died or lost
 * the store is followed by another within this time.
 */
const LEASE_MS = 15 * SECOND;

/** By the server's clock, which is one for all instances. */
const TAKE = `
  UPDATE worker_lease
  SET holder = @holder, until = clock_timestamp() + make_interval(secs => ${LEASE_MS / SECOND}),
    is_asked = is_asked AND holder IS NOT DISTINCT FROM @holder
  WHERE holder = @holder OR until < clock_timestamp()`;

const IS_ASKED = 'SELECT 1 FROM worker_lease WHERE is_asked';

const ASK = 'UPDATE worker_lease SET is_asked = true WHERE NOT is_asked';

const RELEASE = `
  UPDATE worker_lease SET holder = NULL, until = '-infinity' WHERE holder = @holder`;

/**
 * The right to work on a PostgreSQL store, as a row that its holder keeps by taking it again in time.
 * It does not hang on a connection: one that the network cut off may live on at the server for hours.
 * `holder` is another one for each instance.
 */
export function createWorkerLock(
  session: Pick<Session, 'get' | 'run'>,
  holder: string,
): WorkerLock {
  return {
    take: async () => (await session.run(TAKE, { holder })) > 0,
    ask: async () => void (await session.run(ASK)),
    isAsked: async () => (await session.get(IS_ASKED)) !== undefined,
    release: async () => {
      // A store that is away is no reason not to stop: the lease ends by itself.
      await session.run(RELEASE, { holder }).catch(() => undefined);
    },
  };
}
