import { expect, test } from 'vitest';
import { parseFormText } from '#shared/text/form-text.ts';

const parse = (text: string) => parseFormText(Buffer.from(text));

test('names and values come in their order, decoded, with one kind of line end', () => {
  expect(parse('b=1&a=%C3%A9+x&b=&c&a=l1%0D%0Al2%0Dl3')).toEqual([
    ['b', '1'],
    ['a', 'é x'],
    ['b', ''],
    ['c', ''],
    ['a', 'l1\nl2\rl3'],
  ]);
  expect(parse('')).toEqual([]);
});

test('bad escapes and bytes are no failure', () => {
  expect(parseFormText(Buffer.from('a=%zz&b=\xff', 'latin1'))).toEqual([
    ['a', '%zz'],
    ['b', '\uFFFD'],
  ]);
});

test('only so many fields are taken', () => {
  expect(parse('a=1&'.repeat(999))).toHaveLength(999);
  expect(() => parse('&'.repeat(1000))).toThrow(
    expect.objectContaining({ code: 'validation-failed' }),
  );
});

test('bytes of a part of some memory are read alone', () => {
  const memory = new TextEncoder().encode('x=1&a=2&y=3');
  expect(parseFormText(memory.subarray(4, 7))).toEqual([['a', '2']]);
});
