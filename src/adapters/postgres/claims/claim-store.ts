import type { ClaimStore, Removal, RemovalQuery } from '#leads/claims/claim-store.ts';
import { createNextTurnFlight } from '#shared/resilience/single-flight.ts';
import { appendAudit } from '../../store/audit-log.ts';
import { createClaimLists, OF_REPOSITORY } from './lists.ts';
import { createClaimReader } from './view.ts';
import type { Database } from '../connection/database.ts';
import { WITH_GIVEN_STEP } from '../receipt/history.ts';
import { claimTransaction } from '../locks.ts';

export type ClaimsOptions = {
  /** `owner/name`, in any case. */
  repository: string;
};

const RELEASE = `
  UPDATE claim SET released_at = @at
  WHERE number = @number AND released_at IS NULL AND ${OF_REPOSITORY}
  RETURNING event`;

const NOTE_RELEASE = `
  UPDATE event SET note = 'claim-released', history = ${WITH_GIVEN_STEP}
  WHERE id = ANY(@events::bigint[])`;

/** Several claims of one lead share its removed_at, so that DISTINCT leaves one line. */
const REMOVALS = `
  SELECT DISTINCT removed_at, number FROM claim JOIN directory_approval USING (repository_id, number)
  WHERE released_at IS NULL AND removed_at >= @since
    AND (removed_at, number) > (@afterRemovedAt, @afterNumber) AND ${OF_REPOSITORY}
    AND labels @> @labels
  ORDER BY removed_at, number LIMIT @limit`;

/** The claims in PostgreSQL. Keeps the claimed numbers in memory and reads only what changed. */
export function createClaimStore(database: Database, options: ClaimsOptions): ClaimStore {
  const repository = options.repository.toLowerCase();
  return {
    current: createNextTurnFlight(createClaimReader(database, repository)),
    ...createClaimLists(database, repository),
    release: (number, entry) =>
      claimTransaction(database, async (session) => {
        const values = { repository, number, at: entry.at };
        const released = await session.all<{ event: number }>(RELEASE, values);
        if (released.length === 0) return 0;
        const { at, actor } = entry;
        const step = { at, what: 'released', by: actor.subject, leadId: String(number) };
        const events = released.map(({ event }) => event);
        await session.run(NOTE_RELEASE, { events, step: JSON.stringify(step) });
        await appendAudit(session, entry);
        return released.length;
      }),
    listRemovals: (query) => database.all<Removal>(REMOVALS, toValues(query, repository)),
  };
}

function toValues(query: RemovalQuery, repository: string) {
  return {
    repository,
    since: query.since,
    afterRemovedAt: query.after?.removedAt ?? -1,
    afterNumber: query.after?.number ?? -1,
    labels: query.labels,
    limit: query.limit,
  };
}
