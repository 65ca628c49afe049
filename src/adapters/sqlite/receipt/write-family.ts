import { createPayloadSealer } from '#partners/receipts/payload.ts';
import type { Connection } from '../connection/connection.ts';
import type { WriteFamily } from '../writer/writer.ts';
import { createReplayWrites } from './replay.ts';
import { unpackDelivery } from './packed-delivery.ts';
import type { PackedAcceptance, PackedDelivery } from './packed-delivery.ts';
import { createDeliveryWriter } from './accept.ts';

export type ReceiptWriteOptions = {
  /** The 32 bytes under which the bytes of events are encrypted. */
  payloadKey: Buffer;
  /** `owner/name`, in any case: whose leads are claimed. */
  repository: string;
};

type ReceiptWrites = ReturnType<typeof createReceiptWrites>;

export const receiptWrites: WriteFamily<ReceiptWriteOptions, ReceiptWrites> = {
  name: 'receipt',
  create: createReceiptWrites,
  together: { accept: 'acceptAll' },
};

function createReceiptWrites(connection: Connection, options: ReceiptWriteOptions) {
  const { payloadKey, repository } = options;
  const sealer = createPayloadSealer(payloadKey);
  const write = createDeliveryWriter({ connection, sealer, repository });
  const acceptAll = (packed: readonly PackedDelivery[]): PackedAcceptance[] =>
    write(packed.map(unpackDelivery));
  return {
    accept: (packed: PackedDelivery): PackedAcceptance => {
      const [acceptance] = acceptAll([packed]);
      if (!acceptance) throw new Error('a delivery was not written');
      return acceptance;
    },
    acceptAll,
    ...createReplayWrites(connection),
  };
}
