import { html } from '#portal/html.ts';
import { confirmationPage } from '#portal/routes/confirmation.ts';
import { remark } from '#portal/shell/notice.ts';
import { expect, test } from 'vitest';
import { person, viewer } from '../shell/support.ts';

test('a page that confirms warns, lists, asks, and has a way out', async () => {
  const page = confirmationPage(async () => ({
    title: 'Revoke key',
    section: 'consumers',
    crumbs: [{ href: '/portal/consumers/7', text: 'Seven' }],
    failed: 'Not revoked',
    warning: remark('warn', 'In use'),
    consequences: ['It cannot be undone.'],
    fields: [html`A field.`],
    toType: 'Type its name',
    submit: 'Revoke key',
    danger: true,
    wayOut: 'Keep it',
  }));
  const asked = { person, viewer, session: { digest: Buffer.alloc(0) }, path: '/portal/7' };
  const shown = await page({ ...asked, params: {}, query: {}, typed: {}, problems: [] });
  const text = String(shown.body);
  const order = ['In use', 'cannot be undone', 'A field', 'Type its name', 'btn danger', 'Keep it'];
  const places = order.map((words) => text.indexOf(words));
  expect(Math.min(...places)).toBeGreaterThan(0);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(text).toContain('href="/portal/consumers/7"');
});
