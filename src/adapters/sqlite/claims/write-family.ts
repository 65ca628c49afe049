import type { AuditEntry } from '#shared/audit.ts';
import { appendAudit } from '../../store/audit-log.ts';
import type { Connection } from '../connection/connection.ts';
import type { WriteFamily } from '../writer/writer.ts';
import { WITH_GIVEN_STEP } from '../receipt/history.ts';
import { OF_REPOSITORY } from './lists.ts';

/** `repository` is `owner/name`, folded. */
type ClaimWriteOptions = { repository: string };

type ClaimWrites = ReturnType<typeof createClaimWrites>;

/** What operators do to claims; the worker's and those of acceptance are parts of other writes. */
export const claimWrites: WriteFamily<ClaimWriteOptions, ClaimWrites> = {
  name: 'claims',
  create: createClaimWrites,
};

function createClaimWrites(connection: Connection, { repository }: ClaimWriteOptions) {
  const { handle } = connection;
  const release = handle
    .prepare<[{ repository: string; number: number; at: number }], number>(`
      UPDATE claim SET releasedAt = @at
      WHERE number = @number AND releasedAt IS NULL AND ${OF_REPOSITORY}
      RETURNING event`)
    .pluck();
  const noteRelease = handle.prepare<[{ event: number; step: string }]>(
    `UPDATE event SET note = 'claim-released', history = ${WITH_GIVEN_STEP} WHERE id = @event`,
  );
  return {
    release: async (number: number, entry: AuditEntry): Promise<number> => {
      const events = release.all({ repository, number, at: entry.at });
      const { at, actor } = entry;
      const step = { at, what: 'released', by: actor.subject, leadId: String(number) };
      for (const event of events) noteRelease.run({ event, step: JSON.stringify(step) });
      if (events.length > 0) await appendAudit(connection, entry);
      return events.length;
    },
  };
}
