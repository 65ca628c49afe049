import { createAuditLog } from '#adapters/store/audit-log.ts';
import { createChangeLog } from '#adapters/store/change-log.ts';
import { createConsumerStore } from '#adapters/store/consumer/consumer-store.ts';
import { createClaimStore } from '#adapters/store/claim/claim-store.ts';
import { createLeadDirectory } from '#adapters/store/directory/lead-directory.ts';
import { createIdempotencyStore } from '#adapters/store/idempotency-store.ts';
import { createOutcomeCounts } from '#adapters/store/receipt/outcome-counts.ts';
import { createReceiptStore } from '#adapters/store/receipt/receipt-store.ts';
import type { StoreDatabase } from '#adapters/store/session.ts';
import { createTrafficStore } from '#adapters/store/traffic-store.ts';
import { createWorkerLock } from '#adapters/store/work/worker-lock.ts';
import { createWorkStore } from '#adapters/store/work/work-store.ts';
import { createPayloadSealer } from '#partners/receipts/payload.ts';
import { newUuid } from '#shared/ids.ts';

import type { Stores, StoresOptions } from './stores.ts';

/** The stores that are the same on every engine. */
export function createSharedStores(
  database: StoreDatabase,
  { repository, payloadKey, clock }: StoresOptions,
) {
  const instance = newUuid();
  return {
    audit: () => createAuditLog(database),
    changes: () => createChangeLog(database, { instanceId: newUuid() }),
    claims: () => createClaimStore(database, { repository }),
    consumers: () => createConsumerStore({ database, clock }),
    directory: () => createLeadDirectory(database, { repository, now: () => clock.now() }),
    idempotency: () => createIdempotencyStore(database),
    outcomeCounts: () => createOutcomeCounts(database),
    receipts: () => createReceiptStore(database, { payloadKey, repository }),
    sessions: async () => {
      const { createSessionStore } = await import('#adapters/store/session-store.ts');
      return createSessionStore(database);
    },
    traffic: () => createTrafficStore(database),
    work: () => {
      const sealer = createPayloadSealer(payloadKey);
      return createWorkStore({ database, instance, sealer, newId: newUuid, repository });
    },
    workerLock: () => createWorkerLock({ database, instance, clock }),
  } satisfies Partial<Stores>;
}
