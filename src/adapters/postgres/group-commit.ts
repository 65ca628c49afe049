import { setImmediate } from 'node:timers/promises';
import { isTrackportError } from '#shared/errors.ts';
import { isLocked } from './connection/errors.ts';
import type { Database, Session } from './connection/database.ts';
import { claimTransaction } from './locks.ts';

/** Writes that share one transaction at most: what it holds up must be soon over. */
const GROUP_MAX = 100;

/** How writes of one kind are made, all of a transaction in one go. */
type WriteKind<In, Out> = {
  /** Answers one result for each item, in their order. */
  write(session: Session, items: readonly In[]): Promise<readonly Out[]>;
  /** How many items from the first one on can go together; at least one. Default: all. */
  countTogether?: (items: readonly In[]) => number;
};

/**
 * Lets all writes that arrive while a transaction is under way share the next one (`claimTransaction`),
 * whatever their kind, and with it one wait for the disk. Each is answered after the commit; when the commit
 * fails, none of them has happened. One that fails for a reason of its own does not take the others with it.
 */
export type GroupCommit = {
  /** Adds a kind: the function makes one write of it. @throws {store-unavailable} */
  open<In, Out>(kind: WriteKind<In, Out>): (item: In) => Promise<Out>;
};

type Waiting = {
  kind: WriteKind<unknown, unknown>;
  item: unknown;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
};

/** Writes of one kind. */
type Batch = [Waiting, ...Waiting[]];

/** One queue of writes: a database has one, for two would only wait for each other. */
export function createGroupCommit(database: Pick<Database, 'transaction'>): GroupCommit {
  let waiting: Waiting[] = [];
  let isFlushing = false;
  const flush = async (): Promise<void> => {
    isFlushing = true;
    await setImmediate(); // what comes in the same turn goes together
    while (waiting.length > 0) {
      const batches = takeBatches(waiting);
      const taken = new Set(batches.flat());
      waiting = waiting.filter((one) => !taken.has(one));
      const locked = await commit(database, batches);
      if (locked) for (const { reject } of waiting.splice(0)) reject(locked); // they waited for it, too
    }
    isFlushing = false;
  };
  return {
    open: <In, Out>(kind: WriteKind<In, Out>) => {
      const opened = kind as WriteKind<unknown, unknown>;
      return (item: In) =>
        new Promise<Out>((resolve, reject) => {
          const settle = { resolve: resolve as (result: unknown) => void, reject };
          waiting.push({ kind: opened, item, ...settle });
          if (!isFlushing) void flush();
        });
    },
  };
}

/** Of each kind as many as can go together, from the first one on. */
function takeBatches(waiting: readonly Waiting[]): Batch[] {
  const byKind = Map.groupBy(waiting.slice(0, GROUP_MAX), ({ kind }) => kind);
  return [...byKind].map(([{ countTogether }, all]) => {
    const count = countTogether?.(all.map(({ item }) => item)) ?? all.length;
    return all.slice(0, count) as Batch;
  });
}

/** Never throws. Answers why, when somebody else's lock stood in the way for as long as anybody waits. */
async function commit(
  database: Pick<Database, 'transaction'>,
  batches: readonly Batch[],
): Promise<unknown> {
  const all = batches.flat();
  try {
    const results = await claimTransaction(database, (session) => writeAll(session, batches));
    for (const [index, { resolve }] of all.entries()) resolve(results[index]);
  } catch (error) {
    if (all.length > 1 && !isTrackportError(error, 'store-unavailable'))
      for (const one of all) await commit(database, [[one]]);
    else for (const { reject } of all) reject(error);
    if (isLocked(error)) return error;
  }
  return undefined;
}

async function writeAll(session: Session, batches: readonly Batch[]): Promise<unknown[]> {
  const results: unknown[] = [];
  for (const batch of batches) {
    const [{ kind }] = batch;
    const items = batch.map(({ item }) => item);
    results.push(...(await kind.write(session, items)));
  }
  return results;
}
