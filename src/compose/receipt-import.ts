import type { Config } from '#config/schema/schema.ts';
import { defaultLimits } from '#http/limits.ts';
import { createImporter, type ReceiptImporter } from '#partners/import/import-deliveries.ts';
import { createReceiptWriter } from '#partners/intake/write-receipts.ts';
import { toPartnerList } from '#partners/partner.ts';
import { type Clock, MINUTE } from '#shared/clock.ts';
import { deriveKey } from '#shared/crypto/hash.ts';
import { createSealer } from '#shared/crypto/sealer.ts';
import { createTimedIds } from '#shared/ids.ts';
import type { Store } from './store.ts';

/** Brings deliveries in from a file, beside the service. */
export function openImporter({
  store,
  config,
  clock,
}: {
  store: Store;
  config: Config;
  clock: Clock;
}): ReceiptImporter {
  const { database: db, secretKey } = store;
  const { repository } = store.leadsBy(clock);
  const sealer = createSealer(deriveKey(secretKey, 'payloads'));
  return createImporter({
    db,
    repository,
    partners: toPartnerList(config).all(),
    writeReceipt: createReceiptWriter(db, { sealer, repository }),
    directoryKey: store.directoryKey,
    // This process has asked the tracker nothing, and so knows nothing of its clock.
    latestCreation: () => clock.now() + MINUTE,
    newId: createTimedIds(clock),
    bytesMax: defaultLimits.bodyBytesMax,
    clock,
  });
}
