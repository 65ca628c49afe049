import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJsonText } from '#shared/text/json.ts';

const exactly = (text: string): string =>
  JSON.stringify(parseJsonText(Buffer.from(text), { exactNumbers: true }));

test.each([
  '12345678901234567890',
  '-9007199254740993',
  '1e400',
  '-1e-400',
  '0.12345678901234567890',
  '9007199254740991',
  '[1,null,{"a":3.141592653589793238}]',
])('%s keeps every digit', (text) => {
  expect(exactly(text)).toBe(text);
});

test.each([
  ['1.0', '1'],
  ['1e3', '1000'],
  ['-0', '0'],
  ['0.0', '0'],
  ['1.50', '1.5'],
])('%s, which a double holds, is %s', (text, written) => {
  expect(exactly(text)).toBe(written);
});

test('what a double holds is a number, not an opaque value', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const text = JSON.stringify(value);
      expect(parseJsonText(Buffer.from(text), { exactNumbers: true })).toBe(JSON.parse(text));
    }),
  );
});

test('members and elements are counted, those in texts are not', () => {
  const bytes = Buffer.from('{"a":[1,2,{"b":"[,,,,]"}]}');
  expect(parseJsonText(bytes, { valuesMax: 5 })).toBeTruthy();
  expect(() => parseJsonText(bytes, { valuesMax: 4 })).toThrow(
    expect.objectContaining({ code: 'payload-too-large' }),
  );
});

test('a depth of its own is honoured', () => {
  const bytes = Buffer.from('[[[]]]');
  expect(parseJsonText(bytes, { depthMax: 3 })).toEqual([[[]]]);
  expect(() => parseJsonText(bytes, { depthMax: 2 })).toThrow(
    expect.objectContaining({ code: 'malformed-json' }),
  );
});

test.each([
  '__proto__',
  String.raw`__pro\u0074o__`,
  String.raw`\u005f_proto__`,
  String.raw`\u005F\u005f\u0070roto_\u005F`,
])('a key that reads %s is refused', (key) => {
  const bytes = Buffer.from(`{"a":{"${key}":1}}`);
  expect(() => parseJsonText(bytes)).toThrow(expect.objectContaining({ code: 'malformed-json' }));
});

test('a number has the same value with and without other odd numbers beside it', () => {
  const digits = fc.stringMatching(/^-?(0|[1-9]\d{0,20})(\.\d{1,20})?([eE][+-]?\d{1,3})?$/);
  fc.assert(
    fc.property(digits, (text) => {
      const [alone] = JSON.parse(exactly(`["x",${text}]`).replace(/^\["x",(.*)\]$/s, '["$1"]'));
      const [beside] = JSON.parse(
        exactly(`[1e400,${text}]`).replace(/^\[1e400,(.*)\]$/s, '["$1"]'),
      );
      expect(alone).toBe(beside);
      const ids = (other: string) =>
        (parseJsonText(Buffer.from(`[${other},${text}]`)) as unknown[])[1];
      expect(ids('1')).toBe(ids('12345678901234567890'));
    }),
    { numRuns: 1000 },
  );
});
