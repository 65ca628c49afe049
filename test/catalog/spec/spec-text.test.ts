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
