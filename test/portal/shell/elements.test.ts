import {
  attributes,
  code,
  cut,
  foreign,
  link,
  place,
  sentence,
  timeline,
} from '#portal/shell/elements.ts';
import { expect, test } from 'vitest';
import { time } from '#portal/shell/times.ts';
import { viewer } from './support.ts';

test('a link says to screen readers what it opens, and looks like a button if wished', () => {
  const text = link('/portal/receipts', 'Open', { more: 'receipt 5b0f', look: 'button' });
  expect(text.toString()).toBe(
    '<a class="btn" href="/portal/receipts">Open<span class="vh"> receipt 5b0f</span></a>',
  );
});

test.each(['javascript:alert(1)', '//example.org', 'data:text/html,x'])('%s is no link', (href) => {
  expect(link(href, 'Open').toString()).toBe('Open');
});

test('attributes are left out, stand alone or have a value', () => {
  const text = attributes({ a: undefined, b: false, c: true, d: 0, e: '' }).toString();
  expect(text).toBe(' c d="0" e=""');
});

test('long codes may break after dots and slashes', () => {
  expect(code('a.b/c').toString()).toBe('<code>a.<wbr />b/<wbr />c</code>');
});

test('foreign text is cut, in one line, and turns nothing around it', () => {
  expect(foreign(`a\r\n\u0000b\u2028c`).toString()).toBe('<bdi>a b c</bdi>');
  expect(foreign('\u202Eexe\u2066x').toString()).toBe('<bdi>exe x</bdi>');
  expect(cut('a\u202Db\u2069')).toBe('a b');
  expect(cut('x'.repeat(64_000))).toBe(`${'x'.repeat(200)}…`);
  expect(cut('12345', 5)).toBe('12345');
  expect(cut('123😀', 4)).toBe('123…');
});

test.each([
  ['/spec/paths/~1leads~1{id}/get', 'spec › paths › /leads/{id} › get'],
  ['#/spec/paths/~1a%20b~0c', 'spec › paths › /a b~c'],
  ['#/spec/100%25', 'spec › 100%'],
  ['/spec/%zz', 'spec › %zz'],
  ['', 'the document'],
])('a place is named as people write it: %s', (pointer, shown) => {
  expect(place(pointer).toString()).toBe(`<code class="place">${shown}</code>`);
});

test('a note of somebody becomes a sentence', () => {
  expect(sentence('removed').toString()).toBe('<bdi>Removed.</bdi>');
  expect(sentence('Is it so?').toString()).toBe('<bdi>Is it so?</bdi>');
});

test('a time line is a list in order, each moment with its state', () => {
  const text = timeline('Attempts of event 1', [
    { state: 'ok', heading: 'Matched', at: time(viewer.nowMs, viewer) },
    { state: 'bad', heading: 'Attempt 1 failed', content: 'Next in 6 s.' },
  ]).toString();
  expect(text).toContain('aria-label="Attempts of event 1"');
  expect(text.indexOf('Matched')).toBeLessThan(text.indexOf('Attempt 1'));
  expect(text).toContain('<li data-s="bad">');
});
