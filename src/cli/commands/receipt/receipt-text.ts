import { type Outcome, outcomes, type ReceiptStatus } from '#partners/receipts/receipt.ts';
import type { ReceiptDetailOut, ReceiptSummaryOut } from '#partners/receipts/receipt-out.ts';
import type { NotQueuedReason, Replayed } from '#partners/receipts/receipts.ts';
import { NONE, printable, renderFacts, renderTable, renderWord } from '../../table.ts';

const colours = {
  ACCEPTED: 'yellow',
  PENDING: 'yellow',
  PROCESSED: 'green',
  DONE: 'green',
  IGNORED: 'dim',
  UNMATCHED: 'yellow',
  REJECTED: 'yellow',
  FAILED: 'red',
} as const satisfies Record<Outcome | ReceiptStatus, string>;

/** One line per receipt; `nothing` when there are none. */
export function renderReceipts(
  receipts: readonly ReceiptSummaryOut[],
  { hasColour, nothing }: { hasColour: boolean; nothing: string },
): string {
  return renderTable(
    ['received', 'id', 'partner', 'event type', 'external id', 'status', 'outcomes'],
    receipts.map((receipt) => [
      receipt.receivedAt,
      receipt.id,
      receipt.partnerId,
      printable(receipt.eventType),
      printable(receipt.externalId ?? NONE),
      renderWord(receipt.status, colours, hasColour),
      renderCounts(receipt),
    ]),
    nothing,
  );
}

function renderCounts({ outcomes: counts }: ReceiptSummaryOut): string {
  const counted = outcomes.filter((outcome) => counts[outcome] !== undefined);
  return counted.map((outcome) => `${counts[outcome]} ${outcome}`).join(', ') || NONE;
}

/** A receipt with its events. */
export function renderReceipt(receipt: ReceiptDetailOut, hasColour: boolean): string {
  const facts = [
    ['id', receipt.id],
    ['partner', receipt.partnerId],
    ['event type', printable(receipt.eventType)],
    ['external id', printable(receipt.externalId ?? NONE)],
    ['correlation id', printable(receipt.correlationId)],
    ['status', renderWord(receipt.status, colours, hasColour)],
    ['received', receipt.receivedAt],
  ] as const;
  return `${renderFacts(facts)}\n\n${renderEvents(receipt, hasColour)}`;
}

function renderEvents({ events }: ReceiptDetailOut, hasColour: boolean): string {
  return renderTable(
    [
      'event type',
      'event id',
      'external id',
      'looks by',
      'outcome',
      'erasure',
      'leads',
      'attempts',
      'why',
      'note',
      'completed',
    ],
    events.map((event) => [
      printable(event.eventType ?? NONE),
      printable(event.eventId ?? NONE),
      printable(event.externalId ?? NONE),
      event.names.join(' ') || NONE,
      renderWord(event.outcome, colours, hasColour),
      event.erasure ?? NONE,
      event.leadIds.length === 0 ? NONE : event.leadIds.join(' '),
      String(event.attempts),
      event.lastError ?? NONE,
      event.note ?? NONE,
      event.completedAt ?? NONE,
    ]),
    'No events: the batch was empty.',
  );
}

const notQueued: Record<NotQueuedReason, (events: string) => string> = {
  pending: (events) => `${events} not settled yet`,
  done: (events) => `${events} DONE`,
  ignored: (events) => `${events} IGNORED`,
  rejected: (events) => `${events} REJECTED`,
  payloadDropped: (events) =>
    `${events} past replay: the payload was dropped 30 days after the end, so the partner has to send again`,
};

/** How many events wait now, and why the others do not. */
export function renderReplayed({ queued, notQueued: left = {} }: Replayed): string {
  const reasons = Object.entries(left).map(([reason, count]) =>
    notQueued[reason as NotQueuedReason](count === 1 ? '1 is' : `${count} are`),
  );
  const why = reasons.join('; ');
  if (queued === 0) return `Nothing was queued: ${why || 'no event ended UNMATCHED or FAILED'}.`;
  const waiting = `${queued} ${queued === 1 ? 'event waits' : 'events wait'} for the worker.`;
  return why === '' ? waiting : `${waiting} Of the others ${why}.`;
}
