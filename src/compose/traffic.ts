import { createTraffic, type Traffic } from '#partners/traffic/traffic.ts';
import type { Clock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import type { ReleaseStack } from '#shared/resilience/release-stack.ts';

import type { Store } from './store.ts';

export type TrafficParts = { store: Pick<Store, 'stores'>; clock: Clock; log: Log };

/** The record of traffic on the open store. */
export function composeTraffic({ store, clock, log }: TrafficParts, held: ReleaseStack): Traffic {
  const traffic = createTraffic({ store: store.stores.traffic(), clock, log });
  held.push('the record of traffic', () => traffic.close());
  return traffic;
}
