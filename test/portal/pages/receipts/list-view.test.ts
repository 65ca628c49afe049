import { expect, test } from 'vitest';
import type { ReceiptSummary } from '#partners/receipts/receipt.ts';
import { receiptListView } from '#portal/pages/receipts/receipt-list.ts';
import { receiptsQuery, toFilter } from '#portal/pages/receipts/receipt-filters.ts';
import { DAY, MINUTE } from '#shared/clock.ts';
import { hostile, viewer } from '../../shell/support.ts';
import { receiptsPath } from '#portal/paths.ts';

const receipt = (given: Partial<ReceiptSummary> = {}): ReceiptSummary => ({
  id: '0193500e-7a52-7c1d-9b7e-2f6d5b0f3c1e',
  partnerId: 'halden-crm',
  path: 'deletions',
  eventType: 'batch',
  correlationId: 'halden-2026-11-20-0914',
  status: 'ACCEPTED',
  receivedAt: Date.parse('2026-11-20T09:14:02Z'),
  outcomes: { DONE: 18, FAILED: 1, PENDING: 2 },
  nextDueAt: Date.parse('2026-11-21T14:03:00Z'),
  ...given,
});

const queryOf = (search: string) =>
  receiptsQuery.parse(Object.fromEntries(new URLSearchParams(search)));

const view = (receipts: ReceiptSummary[], search = '', pagination = { hasMore: false }) =>
  receiptListView(
    { items: receipts, pagination, partnerIds: ['halden-crm', 'meridian-crm'] },
    { query: queryOf(search), typed: {}, problems: [], viewer },
  );

test('the filters take a minute, too, and the last one counts', () => {
  const at = (search: string) => toFilter(queryOf(search));
  const minute = Date.parse('2026-11-20T14:02:00Z');
  expect(at('from=2026-11-20T14:02')).toEqual({ since: minute });
  expect(at('to=2026-11-20T14:02')).toEqual({ before: minute + MINUTE });
});

test('a long text of a partner is cut', () => {
  const wild = hostile.repeat(2000);
  const text = view([receipt({ eventType: wild, partnerId: hostile, correlationId: wild })]);
  expect(text.toString().length).toBeLessThan(10_000);
});

test('the filters are those of the use case: days are UTC, the last one counts', () => {
  const day = Date.parse('2026-11-20T00:00:00Z');
  const search =
    'partnerId=p&status=&outcome=DONE&from=2026-11-20&to=2026-11-20&by=leadId&id=%2324';
  expect(toFilter(queryOf(search))).toEqual({
    partnerId: 'p',
    outcome: 'DONE',
    since: day,
    before: day + DAY,
    leadId: 24,
  });
  expect(toFilter(queryOf('eventId=e&externalId=x&correlationId=k&cursor=c'))).toEqual({
    eventId: 'e',
    externalId: 'x',
    correlationId: 'k',
  });
  expect(receiptsPath(queryOf('by=eventId&id=e&status=FAILED'))).toBe(
    '/portal/receipts?status=FAILED&eventId=e',
  );
  expect(queryOf('by=eventId&id=')).not.toHaveProperty('eventId');
});
