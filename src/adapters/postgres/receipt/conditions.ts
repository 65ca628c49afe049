import type { ReceiptFilter } from '#partners/receipts/receipt-store.ts';

const OF_RECEIPT = {
  partnerId: 'receipt.partner_id = @partnerId',
  status: 'receipt.status = @status',
  correlationId: 'receipt.correlation_id = @correlationId',
  since: 'receipt.received_at >= @since',
  before: 'receipt.received_at < @before',
} as const;

const OF_EVENT = {
  outcome: 'event.outcome = @outcome',
  eventId: 'event.event_id = @eventId',
  externalId: 'event.external_id = @externalId',
  isAcknowledged: 'event.acknowledged_at IS NULL',
  leadId: 'event.lead_ids @> ARRAY[@leadId::text]',
} as const;

/** Which receipts a filter finds. What it says of events is met by one and the same event. */
export function receiptConditions(filter: ReceiptFilter): string {
  const { ofReceipt, ofEvent } = splitConditions(filter);
  return ofEvent === undefined ? ofReceipt : `${ofReceipt} AND receipt.number IN (${ofEvent})`;
}

/** The same, what it says of events apart: as a statement that yields the numbers of receipts. */
export function splitConditions(filter: ReceiptFilter): { ofReceipt: string; ofEvent?: string } {
  const ofReceipt = given(OF_RECEIPT, filter).join(' AND ') || 'true';
  const ofEvent = given(OF_EVENT, filter).join(' AND ');
  if (ofEvent === '') return { ofReceipt };
  return { ofReceipt, ofEvent: `SELECT event.receipt FROM event WHERE ${ofEvent}` };
}

function given<Name extends keyof ReceiptFilter>(
  conditions: Readonly<Record<Name, string>>,
  filter: ReceiptFilter,
): string[] {
  const names = Object.keys(conditions) as Name[];
  return names.filter((name) => filter[name] !== undefined).map((name) => conditions[name]);
}
