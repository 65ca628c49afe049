import { setTimeout } from 'node:timers/promises';
import type { Connection } from '../connection/connection.ts';
import { isBusy } from '../connection/errors.ts';
import { createGroupCommit } from '../../store/group-commit.ts';
import type { StoreDatabase } from '../../store/session.ts';

/**
 * Everything that is written goes through one of these. Writes that are asked for at the same time,
 * of whatever store, share one commit and with it one write to the disk.
 */
export type Writer = StoreDatabase['writer'] & {
  /** As `Connection.truncateLog`. */
  truncateLog(): Promise<boolean>;
  /** Resolves when all that was asked for is written and the connection is closed. Idempotent. */
  close(): Promise<void>;
};

/** Waits for another process's lock: 1 ms, 2 ms, and then this long each. */
const LOCK_POLL_MS = 5;

export type LocalWriterOptions = {
  /** How long a write waits for another process's lock, about; in milliseconds. */
  lockWaitMs: number;
};

/** Writes on a connection that is the writer's own, of the thread that it is made in. */
export function createLocalWriter(
  connection: Connection,
  { lockWaitMs }: LocalWriterOptions,
): Writer {
  connection.waitAtMost(0); // the writer waits, and not in a statement
  const { call, settled } = createGroupCommit({
    transaction: (work) => whileBusy(lockWaitMs, () => connection.transaction(work)),
    isLocked: isBusy,
  });
  return {
    call,
    callExclusive: call,
    truncateLog: async () => connection.truncateLog(),
    close: async () => {
      await settled();
      connection.close();
    },
  };
}

/** Tries again and again while another process writes, without holding up the event loop. */
async function whileBusy<T>(lockWaitMs: number, work: () => Promise<T>): Promise<T> {
  for (let waits = 1; ; waits += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || waits * LOCK_POLL_MS > lockWaitMs) throw error;
      await setTimeout(Math.min(waits, LOCK_POLL_MS));
    }
  }
}
