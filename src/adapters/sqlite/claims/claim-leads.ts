import type { ClaimOrder } from '#leads/claims/claim-order.ts';
import { REPOSITORY_NOT_KNOWN } from '#leads/claims/claim-order.ts';
import type BetterSqlite3 from 'better-sqlite3';
import type { Connection } from '../connection/connection.ts';
import { guard } from '../connection/errors.ts';

/** Writes claims. Every call is part of the caller's transaction. */
export type ClaimWriter = {
  /**
   * Claims the leads for the event until a match is certain. A lead that an operator had taken from
   * this very event is not claimed again.
   */
  claim(order: ClaimOrder, at: number): void;
  /**
   * More readers than was known may have the lead, should it be claimed: its removal comes behind all
   * that they have read by now.
   */
  redate(lead: { repositoryId: number; number: number }, at: number): void;
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
  return {
    claim: (order, at) => guard(() => insert(order, at)),
    redate: (lead, at) =>
      guard(() => {
        if (statements.redate.run({ ...lead, at }).changes > 0) statements.noteRemovals.run();
      }),
    adopt: (repositoryId, at) =>
      guard(() => {
        if (statements.adopt.run({ repositoryId, at }).changes > 0) statements.noteRemovals.run();
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
    // The claims of a lead share one instant. A removal comes behind all before it, whatever the clock
    // says: readers have read up to those. A plus before a parameter: see `openConnection`.
    insert: handle.prepare<[Row & { at: number }]>(`
      INSERT OR IGNORE INTO claim
        (repositoryId, number, receiptId, event, isProvisional, claimedAt, removedAt)
      SELECT @repositoryId, @number, @receiptId, @event, 1, @at,
        coalesce(
          (SELECT max(removedAt) FROM claim
           WHERE repositoryId = +@repositoryId AND number = +@number AND releasedAt IS NULL),
          max(@at, lastRemovedAt + 1))
      FROM claim_version`),
    ...prepareDates(handle),
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

function prepareDates(handle: BetterSqlite3.Database) {
  const next = 'max(@at, (SELECT lastRemovedAt + 1 FROM claim_version))';
  return {
    redate: handle.prepare<[{ repositoryId: number; number: number; at: number }]>(`
      UPDATE claim SET removedAt = ${next}
      WHERE repositoryId = @repositoryId AND number = @number AND releasedAt IS NULL`),
    adopt: handle.prepare<[{ repositoryId: number; at: number }]>(`
      UPDATE OR IGNORE claim SET repositoryId = @repositoryId, removedAt = ${next}
      WHERE repositoryId = ${REPOSITORY_NOT_KNOWN}`),
    noteRemovals: handle.prepare<[]>(`
      UPDATE claim_version SET lastRemovedAt = max(lastRemovedAt,
        (SELECT max(removedAt) FROM claim WHERE releasedAt IS NULL))`),
  };
}
