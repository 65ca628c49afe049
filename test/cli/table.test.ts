import { styleText } from 'node:util';
import { expect, test } from 'vitest';
import { printable, renderTable } from '#cli/table.ts';

test('columns are aligned, colours take no width, the last column has no blanks behind it', () => {
  const green = styleText('green', 'ok', { validateStream: false });
  expect(
    renderTable(
      ['state', 'name'],
      [
        [green, 'one'],
        ['failed', 'two two'],
      ],
    ),
  ).toBe(`STATE   NAME\n${green}      one\nfailed  two two`);
});

test('without rows it says so', () => {
  expect(renderTable(['a'], [])).toBe('Nothing found.');
  expect(renderTable(['a'], [], 'No consumer yet.')).toBe('No consumer yet.');
});

test('control characters of foreign text never reach the terminal', () => {
  expect(printable('a\u001b[31mb\nc\u0085')).toBe('a?[31mb?c?');
});

test('foreign text turns nothing that stands beside it', () => {
  expect(printable('a\u202Eb\u2067c\u2069\u2028d')).toBe('a?b?c??d');
  const isolated = printable('\u05D0\u05D1');
  expect(isolated).toBe('\u2068\u05D0\u05D1\u2069');
  expect(renderTable(['a', 'b'], [[isolated, 'x']])).toBe(`A   B\n${isolated}  x`);
});
