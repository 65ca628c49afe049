/**
 * The changes in the store, in one order for all instances. A batch is visible once it is committed, and never later
 * than one of a greater position. The newest 256 batches are kept, so that whoever finds a hole in the positions has
 * missed something; the newest is never deleted.
 */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Database, Listening, Statements } from '#shared/database.ts';
import { advisoryLocks } from '#shared/sql.ts';
import type { ListedIssue, TrackerEvent } from '../lead-tracker.ts';

/** A message of one instance to the others: some of the tracker's responses may be out of date. */
export type InstanceChange =
  /** The issue is now as `issue` says; `isGone`: deleted, or in another repository. */
  | { kind: 'issue'; issue: ListedIssue; isGone: boolean }
  /** Any issue may look different. */
  | { kind: 'everything' };

/** The event without its people and its texts; undefined when there is nothing to tell. */
export function toInstanceChange(event: TrackerEvent): InstanceChange | undefined {
  if (event.kind === 'ignored') return undefined;
  if (event.kind === 'everything') return { kind: 'everything' };
  const { number, state, labels, createdAt, updatedAt, isPullRequest } = event.issue;
  const issue = { number, state, labels, createdAt, updatedAt, isPullRequest };
  return { kind: 'issue', issue, isGone: event.isGone };
}

const changesSchema = z.array(
  z.discriminatedUnion('kind', [
    z.object({
      kind: z.literal('issue'),
      issue: z.object({
        number: z.int(),
        state: z.enum(['open', 'closed']),
        labels: z.array(z.string()),
        createdAt: z.number(),
        updatedAt: z.number(),
        isPullRequest: z.boolean(),
      }),
      isGone: z.boolean(),
    }),
    z.object({ kind: z.literal('everything') }),
  ]),
);

/** Changes from their text. A text that is of another version of the program may mean anything. */
export function parseChanges(text: string): readonly InstanceChange[] {
  try {
    return changesSchema.parse(JSON.parse(text));
  } catch {
    return [{ kind: 'everything' }];
  }
}

/** Changes that one instance published at once. */
export type ChangeBatch = {
  /** Those before it were missed. */
  isBehindGap: boolean;
  /** None of what this instance published itself: it knows already. */
  changes: readonly InstanceChange[];
};

/** Number of batches that are kept. */
export const BATCHES_KEPT = 256;

/** Batches are committed in the order of their positions. */
const LOCK = `SELECT pg_advisory_xact_lock(${advisoryLocks.changes})`;

/** No sequence: that leaves holes, and shows a later number before an earlier one. */
const APPEND = `
  INSERT INTO change_batch (position, instance_id, changes)
  SELECT coalesce(max(position), 0) + 1, @instanceId, @changes FROM change_batch
  RETURNING position`;

const REMOVE_OLD = 'DELETE FROM change_batch WHERE position <= @upTo';

const CHANNEL = 'trackport_instances';

/** Heard when this transaction is committed. */
const NOTIFY = `NOTIFY ${CHANNEL}`;

async function append(
  db: Statements,
  instanceId: string,
  changes: readonly InstanceChange[],
): Promise<void> {
  await db.get(LOCK);
  const values = { instanceId, changes: JSON.stringify(changes) };
  const row = await db.get<{ position: number }>(APPEND, values);
  await db.run(REMOVE_OLD, { upTo: (row?.position ?? 0) - BATCHES_KEPT });
  await db.get(NOTIFY);
}

type BatchRow = { position: number; instanceId: string; changes: string };

const LAST = `
  SELECT position, instance_id, changes FROM change_batch ORDER BY position DESC LIMIT 1`;

/** With the one that was read last, or else the newest there is: whether it goes on from there. */
const FROM = `
  SELECT position, instance_id, changes FROM change_batch
  WHERE position >= @position OR position = (SELECT max(position) FROM change_batch)
  ORDER BY position`;

export type ChangeLog = ReturnType<typeof createChangeLog>;

/** `instanceId` tells the batches of this instance from those of others. */
export function createChangeLog(db: Database, { instanceId }: { instanceId: string }) {
  return {
    /**
     * Adds a batch behind all others.
     * @throws {store-unavailable} nothing, or nobody can know, was added
     */
    append: (changes: readonly InstanceChange[]): Promise<void> =>
      db.transaction((tx) => append(tx, instanceId, changes)),
    /** A reader whose place is behind the newest batch. @throws {store-unavailable} */
    openReader: async (): Promise<ChangeReader> =>
      createReader(db, instanceId, await db.get<BatchRow>(LAST)),
    /**
     * Calls `onAppended` soon after a batch was committed by anybody, at most once for all of a moment, and whenever it
     * cannot know whether one was. While the store is away nobody is called.
     */
    watch: (onAppended: () => void): Listening => db.listen(CHANNEL, onAppended),
  };
}

/**
 * All that are kept of the batches behind its place, in order, and moves it behind them. Cheap when there are none:
 * called several times a second, once at a time. @throws {store-unavailable} the place stays
 */
export type ChangeReader = () => Promise<readonly ChangeBatch[]>;

/** A store that lost what was read before (a failover to a server that lagged) does not go on from `last`: a gap. */
function createReader(db: Statements, instanceId: string, last?: BatchRow): ChangeReader {
  let place = last;
  return async () => {
    const rows = await db.all<BatchRow>(FROM, { position: place?.position ?? 0 });
    return rows.slice(isDeepStrictEqual(rows[0], place) ? 1 : 0).map((row) => {
      const isBehindGap = row.position !== (place?.position ?? 0) + 1;
      place = row;
      return {
        isBehindGap,
        changes: row.instanceId === instanceId ? [] : parseChanges(row.changes),
      };
    });
  };
}
