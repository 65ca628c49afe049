import { setImmediate } from 'node:timers/promises';
import { isTrackportError } from '#shared/errors.ts';
import type { Session, StoreDatabase, Write } from '../store/session.ts';
import { isLocked } from './connection/errors.ts';
import { LOCK_FOR_CLAIMS } from './locks.ts';

/** Writes that share one transaction at most: what it holds up must be soon over. */
const GROUP_MAX = 100;

/** As `Database.transaction`. */
type Transact = <T>(work: (session: Session) => Promise<T>, lock: string) => Promise<T>;

type Waiting = {
  write: Write;
  input: readonly never[];
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
};

/**
 * `StoreDatabase.writer.callInTurn`: all writes that arrive while a transaction is under way share the next
 * one, whatever their kind, and with it one wait for the disk. Each is answered after the commit; when the
 * commit fails, none of them has happened. One that fails for a reason of its own does not take the others
 * with it. A database has one queue of writes, for two would only wait for each other.
 */
export function createGroupCommit(transact: Transact): StoreDatabase['writer']['callInTurn'] {
  let waiting: Waiting[] = [];
  let isFlushing = false;
  const flush = async (): Promise<void> => {
    isFlushing = true;
    await setImmediate(); // what comes in the same turn goes together
    while (waiting.length > 0) {
      const group = waiting.slice(0, GROUP_MAX);
      waiting = waiting.slice(GROUP_MAX);
      const locked = await commit(transact, group);
      if (locked) for (const { reject } of waiting.splice(0)) reject(locked); // they waited for it, too
    }
    isFlushing = false;
  };
  return (_name, write, input) =>
    new Promise((resolve, reject) => {
      waiting.push({ write, input: input as readonly never[], resolve, reject });
      if (!isFlushing) void flush();
    });
}

/** Never throws. Answers why, when somebody else's lock stood in the way for as long as anybody waits. */
async function commit(transact: Transact, group: readonly Waiting[]): Promise<unknown> {
  try {
    const results = await transact((session) => writeAll(session, group), LOCK_FOR_CLAIMS);
    for (const one of group) one.resolve(results.get(one));
  } catch (error) {
    if (group.length > 1 && !isTrackportError(error, 'store-unavailable'))
      for (const one of group) await commit(transact, [one]);
    else for (const { reject } of group) reject(error);
    if (isLocked(error)) return error;
  }
  return undefined;
}

/** Those that can be made in one go stand where the first of them does. */
async function writeAll(
  session: Session,
  group: readonly Waiting[],
): Promise<Map<Waiting, unknown>> {
  const results = new Map<Waiting, unknown>();
  for (const batch of Map.groupBy(group, (one) => one.write.all ?? one).values()) {
    const made = await writeBatch(session, batch);
    for (const [at, one] of batch.entries()) results.set(one, made[at]);
  }
  return results;
}

async function writeBatch(session: Session, batch: Waiting[]): Promise<readonly unknown[]> {
  const [first] = batch;
  if (first?.write.all) return first.write.all(session, batch.map(({ input }) => input) as never);
  return Promise.all(batch.map(({ write, input }) => write(session, ...input)));
}
