import { globSync, readFileSync } from 'node:fs';
import { html, safeHref } from '#portal/html.ts';
import { expect, test } from 'vitest';

const hostile = `"><script>alert('1')</script>&`;

test('text and attribute values are escaped, markup of ours is not', () => {
  const inner = html`<b>${hostile}</b>`;
  const text = html`<a title="${hostile}">${inner}${[inner, hostile]}</a>`.toString();
  expect(text).not.toContain('<script');
  expect(text).toContain('<b>&quot;&gt;&lt;script&gt;');
  expect(text.match(/"/g)).toHaveLength(2);
});

// So no page can take a text for markup, and none tests that again but those of the catalog.
test('in every template what is put into an attribute stands in quotes, and all is escaped here', () => {
  const files = globSync('src/portal/**/*.ts');
  expect(files.length).toBeGreaterThan(40);
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    expect([file, text.match(/\s[\w-]+=\$\{/g)]).toEqual([file, null]);
    const isRaw = /hono|isEscaped/.test(text) && !file.endsWith('/html.ts');
    expect([file, isRaw]).toEqual([file, false]);
  }
});

test('nothing leaves nothing behind', () => {
  expect(html`<p>${undefined}${null}${false}${[]}${0}</p>`.toString()).toBe('<p>0</p>');
});

test('indentation of the source is left out, that of values is not', () => {
  const text = html`<ul>
    <li>${'a\n  b'}</li>
  </ul>`;
  expect(text.toString()).toBe('<ul>\n<li>a\n  b</li>\n</ul>');
});

test.each([
  'https://example.org/a',
  'http://example.org',
  '/portal/receipts?status=FAILED',
  '#set-up',
])('%s can be linked', (address) => {
  expect(safeHref(address)).toBe(address);
});

test.each([
  'javascript:alert(1)',
  ' javascript:alert(1)',
  '//example.org',
  '/\\example.org',
  'data:text/html,x',
])('%s cannot be linked', (address) => {
  expect(safeHref(address)).toBeUndefined();
});
