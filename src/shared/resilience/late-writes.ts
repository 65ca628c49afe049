import { type Clock, SECOND, sleepUntilAborted } from '../clock.ts';
import { errorFields, type Log } from '../log.ts';

/** How late a write is at most, while the store can be written. */
export const WRITE_LATE_MS = 5 * SECOND;

type LateWritesDeps<Key, Value> = {
  write: (collected: ReadonlyMap<Key, Value>) => Promise<void>;
  /** What stands for two values of one key, the older first. */
  merge: (older: Value, newer: Value) => Value;
  clock: Pick<Clock, 'sleep'>;
  log: Log;
  /** What the log says when the store fails. */
  failure: string;
};

/** Collects facts that may be lost in a crash, so that noting one costs no I/O. */
export type LateWrites<Key, Value> = {
  record(key: Key, value: Value): void;
  /** Writes what was collected. A store that fails is logged, and tried again the next time. */
  flush(): Promise<void>;
  /** Stops the timer and flushes for the last time. */
  close(): Promise<void>;
};

/**
 * Flushes every five seconds from the first fact until it is closed, without keeping the process
 * alive.
 */
export function createLateWrites<Key, Value>({
  write,
  merge,
  clock,
  log,
  failure,
}: LateWritesDeps<Key, Value>): LateWrites<Key, Value> {
  const stopping = new AbortController();
  let collected = new Map<Key, Value>();

  const collect = (key: Key, value: Value): void => {
    const older = collected.get(key);
    collected.set(key, older === undefined ? value : merge(older, value));
  };

  const flush = async (): Promise<void> => {
    if (collected.size === 0) return;
    const taken = collected;
    collected = new Map();
    try {
      await write(taken);
    } catch (error) {
      const since = collected;
      collected = taken;
      for (const [key, value] of since) collect(key, value);
      log.warn(errorFields(error), failure);
    }
  };

  const flushRegularly = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await sleepUntilAborted(clock, WRITE_LATE_MS, stopping.signal);
      await flush();
    }
  };
  let running: Promise<void> | undefined;

  return {
    record: (key, value) => {
      collect(key, value);
      running ??= flushRegularly();
    },
    flush,
    close: async () => {
      stopping.abort();
      await running;
      await flush();
    },
  };
}
