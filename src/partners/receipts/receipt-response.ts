import { toRfc3339 } from '#shared/clock.ts';
import type {
  Erasure,
  EventNote,
  Outcome,
  Receipt,
  ReceiptDetail,
  ReceiptStatus,
  ReceiptSummary,
} from './receipt.ts';

/** A receipt as every interface shows it. */
export type ReceiptOut = {
  id: string;
  partnerId: string;
  eventType: string;
  externalId?: string;
  correlationId: string;
  status: ReceiptStatus;
  receivedAt: string;
};

/** A receipt in a list, as every interface shows it. */
export type ReceiptSummaryOut = ReceiptOut & Pick<ReceiptSummary, 'outcomes'>;

/** One event of a receipt as every interface shows it. */
type ReceiptEventOut = {
  eventType?: string;
  eventId?: string;
  externalId?: string;
  outcome: Outcome;
  erasure?: Erasure;
  note?: EventNote;
  leadIds: readonly string[];
  attempts: number;
  lastError?: string;
  completedAt?: string;
};

export type ReceiptDetailOut = ReceiptOut & { events: readonly ReceiptEventOut[] };

export function toReceiptOut(receipt: Receipt): ReceiptOut {
  const { id, partnerId, eventType, externalId, correlationId, status, receivedAt } = receipt;
  return {
    id,
    partnerId,
    eventType,
    ...(externalId === undefined ? {} : { externalId }),
    correlationId,
    status,
    receivedAt: toRfc3339(receivedAt),
  };
}

export function toReceiptSummaryOut(receipt: ReceiptSummary): ReceiptSummaryOut {
  return { ...toReceiptOut(receipt), outcomes: receipt.outcomes };
}

export function toReceiptDetailOut(receipt: ReceiptDetail): ReceiptDetailOut {
  return {
    ...toReceiptOut(receipt),
    events: receipt.events.map(({ completedAt, ...event }) => ({
      ...event,
      ...(completedAt === undefined ? {} : { completedAt: toRfc3339(completedAt) }),
    })),
  };
}
