import { SECOND, sleepUntilAborted } from '#shared/clock.ts';
import type { Clock } from '#shared/clock.ts';
import { errorFields } from '#shared/log.ts';
import type { Log } from '#shared/log.ts';
import type { KeyId } from '../consumers/consumer.ts';
import type { ConsumerStore } from '../consumer-store.ts';

/** How late `lastUsedAt` is at most, while the store can be written. */
export const LAST_USED_LATE_MS = 5 * SECOND;

export type LastUsedDeps = {
  store: Pick<ConsumerStore, 'recordUses'>;
  clock: Pick<Clock, 'sleep'>;
  log: Log;
};

/** Collects when keys were used, so that a read of leads costs no write. */
export type LastUsed = {
  /** `at` is milliseconds since the Unix epoch. Costs no I/O. */
  record(keyId: KeyId, at: number): void;
  /** Writes what was collected. A store that fails is logged, and tried again the next time. */
  flush(): Promise<void>;
  /** Stops the timer and flushes for the last time. */
  close(): Promise<void>;
};

/**
 * Flushes every five seconds from the first use until it is closed, without keeping the process
 * alive.
 */
export function createLastUsed({ store, clock, log }: LastUsedDeps): LastUsed {
  const stopping = new AbortController();
  let uses = new Map<KeyId, number>();

  const flush = async (): Promise<void> => {
    if (uses.size === 0) return;
    const taken = uses;
    uses = new Map();
    try {
      await store.recordUses(taken);
    } catch (error) {
      uses = new Map([...taken, ...uses]);
      log.warn(errorFields(error), 'could not write when keys were last used');
    }
  };

  const flushRegularly = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await sleepUntilAborted(clock, LAST_USED_LATE_MS, stopping.signal);
      await flush();
    }
  };
  let running: Promise<void> | undefined;

  return {
    record: (keyId, at) => {
      uses.set(keyId, at);
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
