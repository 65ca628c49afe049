import { setImmediate } from 'node:timers/promises';
import { isTrackportError } from '#shared/errors.ts';
import type { CallWrite, Session, Write } from './session.ts';

/** Writes that share one transaction at most: what it holds up must be soon over. */
const GROUP_MAX = 100;

type Waiting = {
  write: Write;
  input: readonly never[];
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
};

export type GroupCommitOptions = {
  /** Runs `work` in one transaction that no other write can come into. Rolled back when it throws. */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Whether it failed at somebody else's lock, after as long a wait as anybody waits for one. */
  isLocked(error: unknown): boolean;
};

type GroupCommit = {
  call: CallWrite;
  /** Resolves when nothing waits. */
  settled: () => Promise<void>;
};

/**
 * Lets all writes that wait when a transaction begins share it, whatever their kind, and with it one wait for
 * the disk. Each is answered after the commit; when the commit fails, none of them has happened. When one fails
 * for a reason of its own, all is rolled back and made again one by one, each in a transaction of its own.
 */
export function createGroupCommit(options: GroupCommitOptions): GroupCommit {
  const waiting: Waiting[] = [];
  let flushing: Promise<void> | undefined;
  const flush = async (): Promise<void> => {
    while (waiting.length > 0) await commit(options, waiting);
    flushing = undefined;
  };
  return {
    call: (_name, write, input) =>
      new Promise((resolve, reject) => {
        waiting.push({ write, input: input as readonly never[], resolve, reject });
        flushing ??= flush();
      }),
    settled: async () => flushing,
  };
}

/** Takes the next ones from those that wait, and answers them. Never throws. */
async function commit(options: GroupCommitOptions, waiting: Waiting[]): Promise<void> {
  await setImmediate(); // what comes in the same turn goes together, and others have their turn
  const group: Waiting[] = [];
  try {
    const results = await options.transaction((session) => {
      if (group.length === 0) group.push(...waiting.splice(0, GROUP_MAX));
      return writeAll(session, group);
    });
    for (const one of group) one.resolve(results.get(one));
  } catch (error) {
    if (group.length > 1 && !isTrackportError(error, 'store-unavailable'))
      for (const one of group) await commit(options, [one]);
    else {
      // The lock was not had: whoever came meanwhile waited for it as well, and is not made to wait again.
      if (group.length === 0 || options.isLocked(error)) group.push(...waiting.splice(0));
      for (const { reject } of group) reject(error);
    }
  }
}

/** In their order; but writes with a common `all` are made together, in the place of the first of them. */
async function writeAll(
  session: Session,
  group: readonly Waiting[],
): Promise<Map<Waiting, unknown>> {
  const results = new Map<Waiting, unknown>();
  for (const batch of Map.groupBy(group, (one) => one.write.all ?? one).values()) {
    const made = await writeBatch(session, batch as [Waiting, ...Waiting[]]);
    for (const [at, one] of batch.entries()) results.set(one, made[at]);
  }
  return results;
}

async function writeBatch(
  session: Session,
  batch: readonly [Waiting, ...Waiting[]],
): Promise<readonly unknown[]> {
  const [{ write, input }] = batch;
  return write.all
    ? write.all(session, batch.map((one) => one.input) as never)
    : [await write(session, ...input)];
}
