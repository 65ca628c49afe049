/** Properties that no look at a page shows: what a text of somebody could do to it, and what is not offered. */
import { html } from '#portal/html.ts';
import { cut, foreign } from '#portal/shell/elements.ts';
import { textArea } from '#portal/shell/forms.ts';
import { renderPage } from '#portal/shell/frame.ts';
import { expect, test } from 'vitest';
import { person } from './support.ts';

const portal = { repository: 'corvane/leads' };
const frame = { person, currentPath: '/portal/receipts?status=FAILED' };
const page = { title: 'Receipts', section: 'receipts' as const, body: html`<p>here</p>` };

test('foreign text is cut, in one line, and turns nothing around it', () => {
  expect(foreign(`a\r\n\u0000b\u2028c`).toString()).toBe('<bdi>a b c</bdi>');
  expect(foreign('\u202Eexe\u2066x').toString()).toBe('<bdi>exe x</bdi>');
  expect(cut('a\u202Db\u2069')).toBe('a b');
  expect(cut('x'.repeat(64_000))).toBe(`${'x'.repeat(200)}…`);
  expect(cut('123😀', 4)).toBe('123…');
});

test('what was typed in several lines stays as it was', () => {
  const value = `\n"a": '1'\n&amp;\n</textarea><!--`;
  const text = textArea({ name: 'spec', label: 'Spec', value }).toString();
  expect(text).toMatch(
    /<textarea[^>]*>\n\n"a": '1'\n&amp;amp;\n&lt;\/textarea>&lt;!--<\/textarea>/,
  );
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
