import { setImmediate, setTimeout } from 'node:timers/promises';
import { isTrackportError } from '#shared/errors.ts';
import type { Connection } from '../connection/connection.ts';
import { isBusy } from '../connection/errors.ts';

/** Waits for another process's lock: 1 ms, 2 ms, and then this long each. */
const LOCK_POLL_MS = 5;

/** A write that can be made in one go with others that have the same `writeAll`. */
export type SharedWrite = {
  input: unknown;
  /** Writes several inputs: returns one result for each, in their order. */
  writeAll: (inputs: readonly unknown[]) => readonly unknown[] | Promise<readonly unknown[]>;
};

type Waiting = {
  work: () => unknown;
  kind: string;
  shared: SharedWrite | undefined;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
  /** How often it has waited for another process's lock. */
  waits: number;
};

type Outcome = { kind: 'done'; result: unknown } | { kind: 'failed'; error: unknown };

export type GroupCommitOptions = {
  /** How long a write waits for another process's lock, about; in milliseconds. */
  lockWaitMs: number;
};

type Committing = Pick<Connection, 'handle' | 'transactionNow'>;

/**
 * `kind` names writes that behave alike: those that throw now and then are not of one with others. What is
 * `shared` is written in one go, where `work` would make it alone.
 */
type GroupCommit = <T>(
  work: () => T | Promise<T>,
  kind?: string,
  shared?: SharedWrite,
) => Promise<T>;

/**
 * Lets all writes that arrive in one turn of the event loop share one transaction, and with it one
 * write to the disk. Each is answered after the commit; when the commit fails, none of them has
 * happened. One that fails for a reason of its own is rolled back alone. While another process
 * writes, all that wait try together again, without holding up the event loop.
 */
export function createGroupCommit(
  connection: Committing,
  { lockWaitMs }: GroupCommitOptions,
): GroupCommit {
  const waitsMax = Math.ceil(lockWaitMs / LOCK_POLL_MS);
  const careful = new Set<string>();
  let waiting: Waiting[] = [];
  let isFlushing = false;
  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      await setImmediate(); // what comes in the same turn goes together, and others have their turn
      const group = waiting;
      waiting = [];
      const left = await commit(connection, group, { waitsMax, careful });
      if (left.length === 0) continue;
      waiting = [...left, ...waiting];
      await setTimeout(Math.min(LOCK_POLL_MS, Math.max(...left.map(({ waits }) => waits))));
    }
    isFlushing = false;
  };
  return <T>(work: () => T | Promise<T>, kind = '', shared?: SharedWrite) =>
    new Promise<T>((resolve, reject) => {
      const settled = { resolve: resolve as (result: unknown) => void, reject };
      waiting.push({ work, kind, shared, ...settled, waits: 0 });
      if (isFlushing) return;
      isFlushing = true;
      void flush();
    });
}

/** Answers those that another process's lock kept from being written, unless they waited enough. */
async function commit(
  connection: Committing,
  group: Waiting[],
  { waitsMax, careful }: { waitsMax: number; careful: Set<string> },
): Promise<Waiting[]> {
  try {
    const outcomes = await runAll(connection, group, careful);
    for (const one of group) {
      const outcome = outcomes.get(one);
      if (outcome?.kind === 'done') one.resolve(outcome.result);
      else one.reject(outcome?.error);
    }
    return [];
  } catch (error) {
    return giveUp(error, group, waitsMax);
  }
}

function giveUp(error: unknown, group: Waiting[], waitsMax: number): Waiting[] {
  const patient = isBusy(error) ? group.filter(({ waits }) => waits < waitsMax) : [];
  for (const one of group) if (!patient.includes(one)) one.reject(error);
  return patient.map((one) => ({ ...one, waits: one.waits + 1 }));
}

/** Writes that are made in one go, or one write. */
type Batch = [Waiting, ...Waiting[]];

/**
 * A savepoint costs a write a copy of every page that it touches: only those of a kind that has thrown
 * take one. When another one throws, all is rolled back and done again, with savepoints for its kind;
 * where several were made in one go, each of them alone this time.
 */
async function runAll(
  connection: Committing,
  group: readonly Waiting[],
  careful: Set<string>,
): Promise<Map<Waiting, Outcome>> {
  const apart = new Set<string>();
  const mayShare = ({ kind }: Waiting): boolean =>
    group.length === 1 || !(careful.has(kind) || apart.has(kind));
  for (;;) {
    let running: Waiting | undefined;
    try {
      return await connection.transactionNow(async () => {
        const outcomes = new Map<Waiting, Outcome>();
        for (const batch of toBatches(group, mayShare)) {
          const [first] = batch;
          running = mayShare(first) ? first : undefined;
          if (running) await writeBatch(batch, outcomes);
          else outcomes.set(first, await runOne(connection, first.work));
        }
        running = undefined;
        return outcomes;
      });
    } catch (error) {
      const isHopeless = group.length === 1 || isTrackportError(error, 'store-unavailable');
      if (isHopeless || running === undefined) throw error;
      (running.shared ? apart : careful).add(running.kind);
    }
  }
}
/** Writes that can be made in one go stand where the first of them does. */
function toBatches(group: readonly Waiting[], mayShare: (one: Waiting) => boolean): Batch[] {
  const batches: Batch[] = [];
  const byWriter = new Map<SharedWrite['writeAll'], Batch>();
  for (const one of group) {
    const writer = mayShare(one) ? one.shared?.writeAll : undefined;
    const before = writer && byWriter.get(writer);
    if (before) {
      before.push(one);
      continue;
    }
    const batch: Batch = [one];
    batches.push(batch);
    if (writer) byWriter.set(writer, batch);
  }
  return batches;
}

async function writeBatch(batch: Batch, outcomes: Map<Waiting, Outcome>): Promise<void> {
  const [{ work, shared }] = batch;
  const results =
    shared && batch.length > 1
      ? await shared.writeAll(batch.map((one) => one.shared?.input))
      : [await work()];
  if (results.length !== batch.length) throw new Error('not every write has a result');
  for (const [index, one] of batch.entries())
    outcomes.set(one, { kind: 'done', result: results[index] });
}

/** @throws what has ended the whole transaction, or would happen to all others as well */
async function runOne(connection: Committing, work: () => unknown): Promise<Outcome> {
  try {
    return { kind: 'done', result: await connection.transactionNow(work) };
  } catch (error) {
    if (!connection.handle.inTransaction || isTrackportError(error, 'store-unavailable'))
      throw error;
    return { kind: 'failed', error };
  }
}
