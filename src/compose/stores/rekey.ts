/** Gives a stopped store the configured `secretKey` in place of one that is lost. */
import { type Rekeying, replaceKey } from '#adapters/store/transfer/rekey.ts';
import type { Config } from '#config/schema/schema.ts';
import { fingerprintOf, readSecretKey, resolveSecretKey } from '#config/secret-key.ts';
import type { UnreadReceipt } from '#partners/receipts/receipt.ts';
import { TrackportError } from '#shared/errors.ts';

import { withStopped } from './lend.ts';

/** What the command `store rekey` works on. Nothing is opened before it does. */
export function openRekey(config: Config) {
  const rekey = async (onLoss: (lost: readonly UnreadReceipt[]) => Promise<void>) => {
    const decide: Rekeying = async (lost, former) => {
      const key = readSecretKey(config);
      if (key && former?.equals(fingerprintOf(key)) === true)
        throw new TrackportError('bad-request', {
          detail: 'The store has this secretKey already.',
        });
      await onLoss(lost);
      return fingerprintOf(key ?? resolveSecretKey(config));
    };
    await withStopped(config.store.url, (session) => replaceKey(session, decide));
  };
  return { services: { rekey }, close: () => Promise.resolve() };
}
