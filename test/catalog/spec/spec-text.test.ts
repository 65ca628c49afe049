import { expect, test } from 'vitest';
import { readSpecText } from '#catalog/spec/spec-text.ts';

test('a spec in JSON or YAML becomes compact JSON with every digit', () => {
  const json = '{"a":12345678901234567890,"b":["x"]}';
  expect(readSpecText(' { "a": 12345678901234567890,\r\n "b": ["x"] }')).toBe(json);
  expect(readSpecText('a: 12345678901234567890\r\nb:\r\n  - x\r\n')).toBe(json);
});

test.each([
  ['a text', 'just words'],
  ['a list', '- a'],
  ['half an object', '{"a":'],
  ['no document', 'a: [1'],
  ['a name twice', '{"a":1,"a":2}'],
  ['65 levels', '{"a":'.repeat(65) + '1' + '}'.repeat(65)],
])('%s is refused', (_what, text) => {
  expect(() => readSpecText(text)).toThrow(expect.objectContaining({ code: 'malformed-json' }));
});

test('64 levels are taken', () => {
  const deep = '{"a":'.repeat(64) + '1' + '}'.repeat(64);
  expect(readSpecText(deep)).toBe(deep);
});

const bomb = (first: string): string =>
  [
    `a: &a ${first}`,
    ...'bcdefgh'.split('').map((name, at) => {
      const below = 'abcdefg'.charAt(at);
      return `${name}: &${name} [${Array.from({ length: 9 }, () => `*${below}`).join(', ')}]`;
    }),
  ].join('\n');

test.each([
  ['values', bomb('[x]')],
  ['characters', bomb(`"${'x'.repeat(100_000)}"`)],
  ['values of one anchor', `a: &a [${'[],'.repeat(2000)}1]\nb: [${'*a,'.repeat(2000)}1]`],
  ['levels', lines(70)],
  ['levels to write them', lines(3000)],
])('aliases that would make too many %s are refused', (_what, text) => {
  expect(() => readSpecText(text)).toThrow(expect.objectContaining({ code: 'malformed-json' }));
});

function lines(count: number): string {
  const all = Array.from({ length: count }, (_, at) => `  - &a${at + 1} [*a${at}]\n`);
  return `all:\n  - &a0 [1]\n${all.join('')}`;
}

test('5,000 aliases of one thing are fine', () => {
  const text = `a: &a { b: 1 }\nc: [${'*a, '.repeat(5000)}*a]`;
  expect(readSpecText(text)).toHaveLength('{"a":{"b":1},"c":[]}'.length + 5001 * 8 - 1);
});
