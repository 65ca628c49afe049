import type { Clock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import { createLateWrites, type LateWrites } from '#shared/resilience/late-writes.ts';
import type { KeyId } from '../consumers/consumer.ts';
import type { ConsumerStore } from '../consumer-store.ts';

export type LastUsedDeps = {
  store: Pick<ConsumerStore, 'recordUses'>;
  clock: Pick<Clock, 'sleep'>;
  log: Log;
};

/**
 * When keys were used, in milliseconds since the Unix epoch, collected so that a read of leads costs
 * no write.
 */
export type LastUsed = LateWrites<KeyId, number>;

export function createLastUsed({ store, clock, log }: LastUsedDeps): LastUsed {
  return createLateWrites<KeyId, number>({
    write: (uses) => store.recordUses(uses),
    merge: (_older, newer) => newer,
    clock,
    log,
    failure: 'could not write when keys were last used',
  });
}
