/**
 * The changes in the store, in one order for all instances. A batch is visible once it is committed, and never later
 * than one of a greater position. The newest 256 batches are kept, so that whoever finds a hole in the positions has
 * missed something; the newest is never deleted.
 */
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

/** The text by which a store keeps changes. */
export function renderChanges(changes: readonly InstanceChange[]): string {
  return JSON.stringify(changes);
}

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
  /** 1, 2, 3, … without holes, over all instances. */
  position: number;
  /** The text of its changes (`parseChanges`); absent when this instance published it itself: it knows already. */
  text?: string;
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

async function append(db: Statements, instanceId: string, changes: string): Promise<void> {
  await db.get(LOCK);
  const row = await db.get<{ position: number }>(APPEND, { instanceId, changes });
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
  let seen: BatchRow | undefined;
  /** Those behind `position`; all of them where it is not the batch that was read before. */
  const behind = (rows: readonly BatchRow[], position: number): readonly BatchRow[] => {
    const first = rows[0];
    if (first?.position !== position) return rows;
    return seen?.position !== position || isSameBatch(seen, first) ? rows.slice(1) : rows;
  };
  return {
    /**
     * Adds a batch behind all others, as `renderChanges` writes it.
     * @throws {store-unavailable} nothing, or nobody can know, was added
     */
    append: (text: string): Promise<void> => db.transaction((tx) => append(tx, instanceId, text)),
    /** The newest batch's; 0 when there was none ever. @throws {store-unavailable} */
    lastPosition: async (): Promise<number> => {
      seen = await db.get<BatchRow>(LAST);
      return seen?.position ?? 0;
    },
    /**
     * All that are kept of the batches behind `position`, in order. Cheap when there are none: called several times a
     * second. A store that lost what was read before (a failover to a server that lagged) yields batches that do not
     * follow on `position`. @throws {store-unavailable}
     */
    readAfter: async (position: number): Promise<readonly ChangeBatch[]> => {
      const rows = await db.all<BatchRow>(FROM, { position });
      const batches = behind(rows, position);
      seen = rows.at(-1);
      return batches.map((row) => ({
        position: row.position,
        ...(row.instanceId !== instanceId && { text: row.changes }),
      }));
    },
    /**
     * Calls `onAppended` soon after a batch was committed by anybody, at most once for all of a moment, and whenever it
     * cannot know whether one was. While the store is away nobody is called.
     */
    watch: (onAppended: () => void): Listening => db.listen(CHANNEL, onAppended),
  };
}

/** After a failover another batch may have its position. */
function isSameBatch(left: BatchRow, right: BatchRow): boolean {
  return left.instanceId === right.instanceId && left.changes === right.changes;
}
