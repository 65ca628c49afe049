import type { ClaimStore } from '#leads/claims/claim-store.ts';
import { createClaimLists, createClaimReader, OF_REPOSITORY } from '#leads/claims/read-claims.ts';
import { createNextTurnFlight } from '#shared/resilience/single-flight.ts';
import type { AuditEntry } from '#shared/audit.ts';
import type { Tx, Database } from '#shared/database.ts';
import { bindWrites } from '../bind-writes.ts';
import { appendAudit } from '#shared/audit-log.ts';
import { WITH_GIVEN_STEP } from '#partners/receipts/requeue.ts';
import { noteLeads } from '#leads/lead-feed/note-changes.ts';

export type ClaimsOptions = {
  /** `owner/name`, in any case. */
  repository: string;
};

/** The claims, whatever the engine. Keeps the claimed numbers in memory and reads only what changed. */
export function createClaimStore(database: Database, options: ClaimsOptions): ClaimStore {
  const repository = options.repository.toLowerCase();
  const { release } = bindWrites(database.exclusive, claimWrites);
  return {
    current: createNextTurnFlight(createClaimReader(database, repository)),
    ...createClaimLists(database, repository),
    release: (number, entry) => release(repository, number, entry),
  };
}

const RELEASE = `
  UPDATE claim SET released_at = @at
  WHERE number = @number AND released_at IS NULL AND ${OF_REPOSITORY}
  RETURNING event, repository_id`;

const NOTE_RELEASE = `
  UPDATE event SET note = 'claim-released', history = ${WITH_GIVEN_STEP}
  WHERE id = ANY(@events::bigint[])`;

/** What operators do to claims; the worker's and those of acceptance are parts of other writes. */
const claimWrites = {
  /** `repository` is `owner/name` in lower case. */
  release: async (
    session: Tx,
    repository: string,
    number: number,
    entry: AuditEntry,
  ): Promise<number> => {
    const values = { repository, number, at: entry.at };
    const released = await session.all<{ event: number; repositoryId: number }>(RELEASE, values);
    if (released.length === 0) return 0;
    const { at, actor } = entry;
    const step = { at, what: 'released', by: actor.subject, leadId: String(number) };
    const events = released.map(({ event }) => event);
    await session.run(NOTE_RELEASE, { events, step: JSON.stringify(step) });
    for (const id of new Set(released.map(({ repositoryId }) => repositoryId)))
      await noteLeads(session, { id, numbers: [number], at });
    await appendAudit(session, entry);
    return released.length;
  },
};
