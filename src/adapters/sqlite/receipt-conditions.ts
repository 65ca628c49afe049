import type { ReceiptFilter } from '#partners/receipt-store.ts';

/** A filter in SQL: the tables to read, the conditions (all of them hold), and their values. */
export type Conditions = {
  from: string;
  /** The receipt's number, named so that the leading index is in its order. */
  number: string;
  where: string[];
  values: (string | number)[];
};

/**
 * With an outcome the events lead the way (`event_by_outcome` is in the order of receipts), so that
 * the few FAILED ones among a million are found at once.
 */
export function receiptConditions(filter: ReceiptFilter): Conditions {
  const conditions: [string, string | number | undefined][] = [
    ['event.outcome = ?', filter.outcome],
    ['receipt.partnerId = ?', filter.partnerId],
    ['receipt.status = ?', filter.status],
    ['receipt.receivedAt >= ?', filter.since],
  ];
  const given = conditions.filter(([, value]) => value !== undefined);
  const tables =
    filter.outcome === undefined
      ? { from: 'receipt', number: 'receipt.number' }
      : {
          from: 'event CROSS JOIN receipt ON receipt.number = event.receipt',
          number: 'event.receipt',
        };
  return {
    ...tables,
    where: given.map(([condition]) => condition),
    values: given.map(([, value]) => value as string | number),
  };
}
