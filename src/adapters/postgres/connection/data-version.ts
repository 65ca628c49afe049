import { createNextTurnFlight } from '#shared/resilience/single-flight.ts';
import { SERVER_IDENTITY } from '../../store/claim/claim-store.ts';
import type { Session } from '../../store/session.ts';

/**
 * Two snapshots that read the same of one origin see the same data.
 * @see https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SNAPSHOT
 */
const SNAPSHOT = `SELECT concat_ws(' ', pg_current_snapshot(), ${SERVER_IDENTITY}) AS snapshot`;

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
