import type { ClaimOrder, DescribedLead } from '#leads/claims/claim-order.ts';
import { REPOSITORY_NOT_KNOWN } from '#leads/claims/claim-order.ts';
import type BetterSqlite3 from 'better-sqlite3';
import type { Connection } from '../connection/connection.ts';
import { guard } from '../connection/errors.ts';

/** `labels`: a JSON array. */
export type DescribedRow = Omit<DescribedLead, 'labels'> & { labels: string };

/** Writes claims. Every call is part of the caller's transaction. */
export type ClaimWriter = {
  /**
   * Claims the leads for the event until a match is certain. A lead that an operator had taken from
   * this very event is not claimed again.
   */
  claim(order: ClaimOrder, at: number): void;
  /**
   * Completes the claims of a lead that was claimed by its number alone. In the removals feed it comes
   * behind all that readers have read by now.
   */
  describe(lead: DescribedRow, at: number): void;
  /**
   * What a newer state of the lead tells while all its claims wait for a match: it is described as it
   * was when it went out of sight, and the directory may have been behind. Only adds.
   */
  catchUp(lead: DescribedRow & { updatedAt: number }, at: number): void;
  /** Whether `describe` has anything to complete. */
  hasUndescribed(): boolean;
  /** Gives the repository the claims that were made before its number was known. */
  adopt(repositoryId: number, at: number): void;
  /** The same for good: the match is certain. */
  confirm(order: ClaimOrder, at: number): void;
  /** Takes back those that are not claimed for good, and returns them. */
  withdraw(order: ClaimOrder): number[];
  /** The leads that the event has claimed until a match is certain. */
  provisional(repositoryId: number, event: number): number[];
  /** The leads of the repository that the event holds, in ascending order. */
  held(repositoryId: number, event: number): number[];
};

export function createClaimWriter(connection: Connection): ClaimWriter {
  const statements = prepare(connection);
  const insert = (order: ClaimOrder, at: number): void => {
    for (const number of order.numbers) statements.insert.run({ ...toRow(order, number), at });
  };
  const describe = ({ isApproved, ...lead }: DescribedRow, at: number): void => {
    const row = { ...lead, approved: isApproved ? 1 : 0, at };
    if (statements.describe.run(row).changes > 0) statements.noteRemoval.run(row);
  };
  return {
    claim: (order, at) => guard(() => insert(order, at)),
    describe: (lead, at) => guard(() => describe(lead, at)),
    catchUp: ({ isApproved, ...lead }, at) =>
      guard(() => {
        if (isApproved && statements.catchUp.run({ ...lead, at }).changes > 0)
          statements.noteRemoval.run(lead);
      }),
    hasUndescribed: () => guard(() => statements.undescribed.get() !== undefined),
    adopt: (repositoryId, at) =>
      guard(() => {
        if (statements.adopt.run({ repositoryId }).changes === 0) return;
        for (const { approved, ...lead } of statements.knownNow.all({ repositoryId }))
          describe({ ...lead, isApproved: approved === 1 }, at);
      }),
    confirm: (order, at) =>
      guard(() => {
        insert(order, at);
        for (const number of order.numbers) statements.confirm.run(toRow(order, number));
      }),
    withdraw: (order) =>
      guard(() =>
        order.numbers.filter((number) => statements.withdraw.run(toRow(order, number)).changes > 0),
      ),
    provisional: (repositoryId, event) =>
      guard(() => statements.provisional.all(repositoryId, event)),
    held: (repositoryId, event) => guard(() => statements.held.all(repositoryId, event)),
  };
}

/** The leads that an event holds, for `event.leadIds`. */
export function toLeadIds(numbers: readonly number[]): string | null {
  return numbers.length > 0 ? JSON.stringify(numbers.map(String)) : null;
}

type Row = Omit<ClaimOrder, 'numbers'> & { number: number };

function toRow({ repositoryId, receiptId, event }: ClaimOrder, number: number): Row {
  return { repositoryId, receiptId, event, number };
}

function prepare({ handle }: Connection) {
  return guard(() => ({
    // What the lead was like when it went out of sight comes from the claim that is in force, or
    // else from the directory: later claims see an issue that the first one has changed. A removal
    // comes behind all before it, whatever the clock says: readers have read up to those. A plus
    // before a parameter: see `openConnection`.
    insert: handle.prepare<[Row & { at: number }]>(`
      INSERT OR IGNORE INTO claim
        (repositoryId, number, receiptId, event, isProvisional, claimedAt, removedAt, approved,
          labels, isDescribed)
      SELECT @repositoryId, @number, @receiptId, @event, 1, @at,
        coalesce(earlier.removedAt, max(@at, lastRemovedAt + 1)),
        coalesce(earlier.approved, seen.approved, 0),
        coalesce(earlier.labels, seen.labels, '[]'),
        coalesce(earlier.isDescribed, seen.number IS NOT NULL)
      FROM claim_version
        LEFT JOIN claim AS earlier ON earlier.id =
          (SELECT min(id) FROM claim
           WHERE repositoryId = +@repositoryId AND number = +@number AND releasedAt IS NULL)
        LEFT JOIN directory_lead AS seen
          ON seen.repositoryId = +@repositoryId AND seen.number = +@number`),
    ...prepareDescriptions(handle),
    confirm: handle.prepare<[Row]>(`
      UPDATE claim SET isProvisional = 0
      WHERE repositoryId = @repositoryId AND number = @number AND event = @event`),
    withdraw: handle.prepare<[Row]>(`
      DELETE FROM claim
      WHERE repositoryId = @repositoryId AND number = @number AND event = @event
        AND isProvisional = 1 AND releasedAt IS NULL`),
    provisional: handle
      .prepare<[number, number], number>(
        `SELECT number FROM claim WHERE repositoryId = ? AND event = ? AND isProvisional = 1
           AND releasedAt IS NULL`,
      )
      .pluck(),
    // The plus keeps it from an index in this order that would read every claim of the repository.
    held: handle
      .prepare<[number, number], number>(
        `SELECT number FROM claim WHERE repositoryId = +? AND event = +? AND releasedAt IS NULL
         ORDER BY +number`,
      )
      .pluck(),
  }));
}

function prepareDescriptions(handle: BetterSqlite3.Database) {
  return {
    describe: handle.prepare<
      [Omit<DescribedRow, 'isApproved'> & { approved: number; at: number }]
    >(`
      UPDATE claim SET isDescribed = 1, approved = @approved, labels = @labels,
        removedAt = iif(@approved,
          max(@at, (SELECT lastRemovedAt + 1 FROM claim_version)), removedAt)
      WHERE repositoryId = @repositoryId AND number = @number AND isDescribed = 0`),
    // Once a match is certain the tracker shows what we have done to the issue.
    catchUp: handle.prepare<
      [Omit<DescribedRow, 'isApproved'> & { updatedAt: number; at: number }]
    >(`
      UPDATE claim SET approved = 1,
        labels = iif(approved, (SELECT json_group_array(value) FROM
          (SELECT value FROM json_each(claim.labels) UNION SELECT value FROM json_each(@labels))),
          @labels),
        removedAt = max(@at, (SELECT lastRemovedAt + 1 FROM claim_version))
      WHERE repositoryId = @repositoryId AND number = @number AND releasedAt IS NULL
        AND (approved = 0 OR EXISTS
          (SELECT value FROM json_each(@labels) EXCEPT SELECT value FROM json_each(claim.labels)))
        AND EXISTS (SELECT 1 FROM directory_lead AS seen WHERE seen.repositoryId = @repositoryId
          AND seen.number = @number AND seen.updatedAt <= @updatedAt)
        AND NOT EXISTS (SELECT 1 FROM claim AS certain WHERE certain.repositoryId = @repositoryId
          AND certain.number = @number AND certain.isProvisional = 0
          AND certain.releasedAt IS NULL)`),
    undescribed: handle.prepare<[]>('SELECT 1 FROM claim WHERE isDescribed = 0 LIMIT 1'),
    noteRemoval: handle.prepare<[{ repositoryId: number; number: number }]>(`
      UPDATE claim_version SET lastRemovedAt = max(lastRemovedAt,
        (SELECT max(removedAt) FROM claim WHERE repositoryId = @repositoryId AND number = @number))`),
    adopt: handle.prepare<[{ repositoryId: number }]>(`
      UPDATE OR IGNORE claim SET repositoryId = @repositoryId
      WHERE repositoryId = ${REPOSITORY_NOT_KNOWN}`),
    knownNow: handle.prepare<
      [{ repositoryId: number }],
      Omit<DescribedRow, 'isApproved'> & { approved: 0 | 1 }
    >(`
      SELECT DISTINCT lead.repositoryId, lead.number, lead.approved, lead.labels
      FROM claim JOIN directory_lead AS lead USING (repositoryId, number)
      WHERE claim.repositoryId = @repositoryId AND isDescribed = 0`),
  };
}
