import type { Database } from './database.ts';
import { guard } from './errors.ts';

/** Leads that one event claims, or gives back. */
type ClaimOrder = {
  repositoryId: number;
  receiptId: string;
  /** `event.id`. */
  event: number;
  numbers: readonly number[];
};

/** Writes claims. Every call is part of the caller's transaction. */
export type ClaimWriter = {
  /**
   * Claims the leads for the event and answers those that it holds now: a lead that an operator
   * had taken from this very event is not claimed again.
   */
  claim(order: ClaimOrder, at: number): number[];
  /** Takes back what a better match of the same event did not confirm. */
  withdraw(order: ClaimOrder): void;
  /** The leads of the repository that the event holds, in ascending order. */
  held(repositoryId: number, event: number): number[];
};

export function createClaimWriter(database: Database): ClaimWriter {
  const statements = prepare(database);
  const held = (repositoryId: number, event: number): number[] =>
    statements.held.all(repositoryId, event);
  return {
    claim: (order, at) =>
      guard(() => {
        for (const number of order.numbers) statements.insert.run({ ...toRow(order, number), at });
        return held(order.repositoryId, order.event).filter((number) =>
          order.numbers.includes(number),
        );
      }),
    withdraw: (order) =>
      guard(() => {
        for (const number of order.numbers) statements.withdraw.run(toRow(order, number));
      }),
    held: (...owner) => guard(() => held(...owner)),
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
        (repositoryId, number, receiptId, event, claimedAt, removedAt, approved, labels)
      VALUES (@repositoryId, @number, @receiptId, @event, @at,
        coalesce((SELECT removedAt FROM earlier),
          max(@at, (SELECT lastRemovedAt + 1 FROM claim_version))),
        coalesce((SELECT approved FROM earlier), (SELECT approved FROM seen), 0),
        coalesce((SELECT labels FROM earlier), (SELECT labels FROM seen), '[]'))`),
    withdraw: handle.prepare<[Row]>(`
      DELETE FROM claim
      WHERE repositoryId = @repositoryId AND number = @number AND event = @event
        AND receiptId = @receiptId AND releasedAt IS NULL`),
    held: handle
      .prepare<[number, number], number>(
        `SELECT number FROM claim WHERE repositoryId = ? AND event = ? AND releasedAt IS NULL
         ORDER BY number`,
      )
      .pluck(),
  }));
}
