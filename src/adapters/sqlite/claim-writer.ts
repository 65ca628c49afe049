import type { Database } from './database.ts';
import { guard } from './errors.ts';

/** Leads that one event claims, or gives back. */
export type ClaimOrder = {
  repositoryId: number;
  receiptId: string;
  /** `event.id`. */
  event: number;
  numbers: readonly number[];
};

/** Writes claims. Every call is part of the caller's transaction. */
export type ClaimWriter = {
  /**
   * Claims the leads for the event until a match is certain. A lead that an operator had taken from
   * this very event is not claimed again.
   */
  claim(order: ClaimOrder, at: number): void;
  /** The same for good: the match is certain. */
  confirm(order: ClaimOrder, at: number): void;
  /** Takes back those that are not claimed for good, and answers them. */
  withdraw(order: ClaimOrder): number[];
  /** The leads that the event has claimed until a match is certain. */
  provisional(repositoryId: number, event: number): number[];
  /** The leads of the repository that the event holds, in ascending order. */
  held(repositoryId: number, event: number): number[];
};

export function createClaimWriter(database: Database): ClaimWriter {
  const statements = prepare(database);
  const insert = (order: ClaimOrder, at: number): void => {
    for (const number of order.numbers) statements.insert.run({ ...toRow(order, number), at });
  };
  return {
    claim: (order, at) => guard(() => insert(order, at)),
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

type Row = { repositoryId: number; receiptId: string; event: number; number: number };

function toRow({ repositoryId, receiptId, event }: ClaimOrder, number: number): Row {
  return { repositoryId, receiptId, event, number };
}

function prepare({ handle }: Database) {
  return guard(() => ({
    // What the lead was like when it went out of sight comes from the claim that is in force, or
    // else from the directory: later claims see an issue that the first one has changed. A removal
    // comes behind all before it, whatever the clock says: readers have read up to those.
    insert: handle.prepare<[Row & { at: number }]>(`
      WITH earlier AS (
        SELECT removedAt, approved, labels FROM claim
        WHERE repositoryId = @repositoryId AND number = @number AND releasedAt IS NULL
        ORDER BY id LIMIT 1),
      seen AS (
        SELECT approved, labels FROM directory_lead
        WHERE repositoryId = @repositoryId AND number = @number)
      INSERT OR IGNORE INTO claim
        (repositoryId, number, receiptId, event, isProvisional, claimedAt, removedAt, approved,
          labels)
      VALUES (@repositoryId, @number, @receiptId, @event, 1, @at,
        coalesce((SELECT removedAt FROM earlier),
          max(@at, (SELECT lastRemovedAt + 1 FROM claim_version))),
        coalesce((SELECT approved FROM earlier), (SELECT approved FROM seen), 0),
        coalesce((SELECT labels FROM earlier), (SELECT labels FROM seen), '[]'))`),
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
    held: handle
      .prepare<[number, number], number>(
        `SELECT number FROM claim WHERE repositoryId = ? AND event = ? AND releasedAt IS NULL
         ORDER BY number`,
      )
      .pluck(),
  }));
}
