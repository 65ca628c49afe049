import { type Clock, SECOND, sleepUntilAborted } from '../clock.ts';
import { errorFields, type Log } from '../log.ts';

/** Delay of a write at most, while the store takes it. */
export const WRITE_LATE_MS = 5 * SECOND;

/** Collects facts that may be lost in a crash, so that noting one costs no I/O. */
export type LateWrites<Key, Value> = {
  record(key: Key, value: Value): void;
  /** Writes all that was recorded before. A store that fails is logged, and tried again the next time. */
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
  keysMax = Infinity,
  clock,
  log,
  failure,
}: {
  write: (collected: ReadonlyMap<Key, Value>) => Promise<void>;
  /** Makes one value of two of the same key. */
  merge: (older: Value, newer: Value) => Value;
  /** Keys that may wait. Half of them are written at once; beyond, while the store fails, new ones are forgotten. */
  keysMax?: number;
  clock: Clock;
  log: Log;
  /** The message of the log when the store fails. */
  failure: string;
}): LateWrites<Key, Value> {
  const stopping = new AbortController();
  let collected = new Map<Key, Value>();

  const collect = (key: Key, value: Value): void => {
    const older = collected.get(key);
    if (older !== undefined) collected.set(key, merge(older, value));
    else if (collected.size < keysMax) collected.set(key, value);
  };

  const writeCollected = async (): Promise<void> => {
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

  // One after another: whoever flushes waits for what another flush took.
  let written = Promise.resolve();
  const flush = (): Promise<void> => (written = written.then(writeCollected));

  const flushRegularly = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await sleepUntilAborted(clock, WRITE_LATE_MS, stopping.signal);
      await flush();
    }
  };
  let running: Promise<void> | undefined;

  return {
    record: (key, value) => {
      const before = collected.size;
      collect(key, value);
      if (collected.size > before && collected.size === keysMax / 2) void flush();
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
