/** What no look at a page shows: what a text of somebody could do to it, and what is not offered. */
import { html } from '#portal/html.ts';
import { cut, foreign, link } from '#portal/shell/elements.ts';
import { actionButton, button, filters, input, postForm, textArea } from '#portal/shell/forms.ts';
import { renderPage } from '#portal/shell/frame.ts';
import { expect, test } from 'vitest';
import { flat, person } from './support.ts';

const portal = { repository: 'corvane/leads' };
const frame = { person, currentPath: '/portal/receipts?status=FAILED' };
const page = { title: 'Receipts', section: 'receipts' as const, body: html`<p>here</p>` };

test.each(['javascript:alert(1)', '//example.org', 'data:text/html,x'])('%s is no link', (href) => {
  expect(link(href, 'Open').toString()).toBe('Open');
});

test('foreign text is cut, in one line, and turns nothing around it', () => {
  expect(foreign(`a\r\n\u0000b\u2028c`).toString()).toBe('<bdi>a b c</bdi>');
  expect(foreign('\u202Eexe\u2066x').toString()).toBe('<bdi>exe x</bdi>');
  expect(cut('a\u202Db\u2069')).toBe('a b');
  expect(cut('x'.repeat(64_000))).toBe(`${'x'.repeat(200)}…`);
  expect(cut('123😀', 4)).toBe('123…');
});

test('what was typed in several lines stays as it was', () => {
  const text = textArea({ name: 'spec', label: 'Spec', value: '\na: 1\n</textarea>' }).toString();
  expect(text).toMatch(/<textarea[^>]*>\n\na: 1\n&lt;\/textarea&gt;<\/textarea>/);
});

test('every form that changes something carries the token of the session, a search does not', () => {
  const form = postForm({ action: '/portal/consumers', person }, button('Save')).toString();
  const one = actionButton({ action: '/a', person, text: 'Disable', more: 'Router' }).toString();
  for (const text of [form, one])
    expect(text).toContain('name="formToken" value="token-of-the-session"');
  const fields = [input({ name: 'q', label: 'Find' })];
  const search = flat(filters({ action: '/portal/receipts', label: 'Filter receipts', fields }));
  expect(search).toContain('method="get" action="/portal/receipts"');
  expect(search).not.toContain('formToken');
  const forms = renderPage(portal, frame, page).split('<form').slice(1);
  expect(forms).toEqual([expect.stringContaining('value="token-of-the-session"')]);
});

test('what one may not see is not offered', () => {
  const paths = (scopes: string[]) =>
    renderPage(portal, { ...frame, person: { ...person, scopes } }, page)
      .match(/<a href="\/portal[^"]*">/g)
      ?.map((text) => text.slice('<a href="'.length, -2));
  expect(paths(['catalog:read'])).toEqual(['/portal', '/portal/catalog']);
  expect(paths([])).toEqual(['/portal']);
  expect(paths(['trackport:admin'])).not.toContain('/portal/catalog');
});

test('nothing is inline and nothing comes from elsewhere', () => {
  const text = renderPage(portal, frame, page);
  expect(text).not.toMatch(/<style|<script>|\son[a-z]+=|\sstyle=/);
  expect(text.match(/(?:src|href)="(?!\/portal|#main)[^"]*"/g)).toBeNull();
});
