import { createNextTurnFlight } from '#shared/resilience/single-flight.ts';
import type { Session } from './database.ts';

/**
 * Another text as soon as what is connected to may hold less than what was read before: a standby that
 * lagged and was promoted, a backup of an earlier time put in its place. Versions count on from less
 * there, and come to the same numbers for other data. A restarted server gives another text as well.
 */
export const ORIGIN = `
  (SELECT concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()), oid, 'claim_version'::regclass::oid)
    FROM pg_database WHERE datname = current_database())`;

/**
 * Two snapshots that read the same of one origin see the same data.
 * @see https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SNAPSHOT
 */
const SNAPSHOT = `SELECT concat_ws(' ', pg_current_snapshot(), ${ORIGIN}) AS snapshot`;

/**
 * A number that is another one whenever anything was committed by anybody since the last one; also
 * when something else was, in another database of the server. Calls that come while the server is
 * asked share the next question.
 */
export function createVersionReader(session: Pick<Session, 'get'>): () => Promise<number> {
  let seen: string | undefined;
  let version = 0;
  return createNextTurnFlight(async () => {
    const row = await session.get<{ snapshot: string }>(SNAPSHOT);
    if (row?.snapshot !== seen) version += 1;
    seen = row?.snapshot;
    return version;
  });
}
