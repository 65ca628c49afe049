import { expect, test } from 'vitest';
import { DAY } from '#shared/clock.ts';
import { openReceiptPages } from './support.ts';

const rowsOf = (body: string): number => body.match(/<th role="rowheader"/g)?.length ?? 0;

test('receipts are shown by pages, each once, the filters kept', async () => {
  const { admin, deliver } = await openReceiptPages();
  for (let at = 0; at < 60; at += 1) await deliver({ eventId: `e-${at}`, email: 'a@example.com' });
  await deliver({ eventId: 'other', email: 'a@example.com' }, { from: 'crm-two' });
  const first = await admin.get('/portal/receipts?partnerId=crm-one');
  expect(rowsOf(first.body)).toBe(50);
  expect(first.body.length).toBeLessThan(60_000);
  const [, older = ''] = /href="([^"]+)"[^>]*>Older/.exec(first.body) ?? [];
  const second = await admin.get(older.replaceAll('&amp;', '&'));
  expect(rowsOf(second.body)).toBe(10);
  expect(second.body).not.toContain('>Older');
});

test('a day finds what came on it', async () => {
  const { admin, deliver, clock } = await openReceiptPages();
  const today = new Date(clock.now()).toISOString().slice(0, 10);
  const before = new Date(clock.now() - DAY).toISOString().slice(0, 10);
  await deliver({ eventId: 'e-1', email: 'a@example.com' });
  const on = async (day: string) =>
    rowsOf((await admin.get(`/portal/receipts?from=${day}&to=${day}`)).body);
  expect([await on(today), await on(before)]).toEqual([1, 0]);
});

test('only operators read them, a wrong filter says so, an empty form is none', async () => {
  const { admin, signIn } = await openReceiptPages();
  const reader = await signIn(['catalog:read']);
  expect(await reader.get('/portal/receipts')).toMatchObject({ status: 403 });
  expect(await admin.get('/portal/receipts?status=DONE')).toMatchObject({ status: 400 });
  expect(await admin.get('/portal/receipts?cursor=made-up')).toMatchObject({ status: 400 });
  const form = 'partnerId=&status=&outcome=&from=&to=&by=leadId&id=';
  expect(await admin.get(`/portal/receipts?${form}`)).toMatchObject({ status: 200 });
});
