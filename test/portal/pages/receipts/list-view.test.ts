import { expect, test } from 'vitest';
import type { ReceiptSummary } from '#partners/receipts/receipt.ts';
import { receiptListView } from '#portal/pages/receipts/routes.ts';
import { receiptsPath, receiptsQuery, toFilter } from '#portal/pages/receipts/names.ts';
import { DAY, MINUTE } from '#shared/clock.ts';
import { flat, hostile, viewer } from '../../shell/support.ts';

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

test('a row says when, from whom, how it ended and when it is tried next', () => {
  const text = flat(view([receipt()]));
  expect(text).toContain('href="/portal/receipts/0193500e-7a52-7c1d-9b7e-2f6d5b0f3c1e"');
  expect(text).toContain('<code>5b0f3c1e</code>');
  expect(text).toContain(
    'title="2026-11-20 09:14:02 UTC" data-style="second">20 Nov 09:14:02</time>',
  );
  expect(text).toContain('href="/portal/partners?id=halden-crm#p-halden-crm"');
  expect(text).toContain('<bdi>batch</bdi>');
  expect(text).toMatch(/1 failed<.*2 pending<.*18 done</);
  expect(text).toContain(
    'title="2026-11-21 14:03:00 UTC" data-style="second">21 Nov 14:03:00</time>',
  );
});

test('one event needs no number, none says so, and what is settled has no next try', () => {
  const { nextDueAt: _due, ...settled } = receipt({ outcomes: { DONE: 1 }, status: 'PROCESSED' });
  const text = flat(view([settled, { ...settled, outcomes: {} }]));
  expect(text).toContain('data-s="ok">Done</span>');
  expect(text).toContain('no event');
  expect(text).not.toMatch(/data-l="Next try"><div>/);
});

test('filters stay in the form, each can be taken away, and the next page keeps them', () => {
  const more = { hasMore: true, nextCursor: 'c-2' };
  const text = flat(view([receipt()], 'partnerId=gone-crm&status=FAILED&leadId=24&cursor=c', more));
  expect(text).toContain('<option value="gone-crm" selected>');
  expect(text).toContain('<option value="leadId" selected>');
  expect(text).toContain('value="24"');
  expect(text).toContain('href="/portal/receipts?partnerId=gone-crm&amp;leadId=24"');
  expect(text).toContain('</span>status Failed</a>');
  expect(text).toContain(
    'href="/portal/receipts?partnerId=gone-crm&amp;status=FAILED&amp;leadId=24&amp;cursor=c-2"',
  );
  expect(text).toContain(
    'href="/portal/receipts?partnerId=gone-crm&amp;status=FAILED&amp;leadId=24"',
  );
});

test('before the first delivery it says where one is sent, an empty find what was asked', () => {
  expect(flat(view([]))).toContain('No delivery yet');
  expect(flat(view([]))).toContain('halden-crm/<wbr />deletions');
  const nothing = flat(view([], 'outcome=FAILED&from=2026-11-20'));
  expect(nothing).toContain('None has all of this: an event is Failed, from 2026-11-20.');
  expect(nothing).toContain('href="/portal/receipts?from=2026-11-20">However it ended');
  expect(nothing).toContain('href="/portal/receipts?outcome=FAILED">At any time');
});

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
