import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readSpecText, renderSpecYaml, writeYaml } from '#catalog/spec/spec-text.ts';
import { parseJsonText } from '#shared/text/json.ts';

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

const yamlOf = (json: string): string =>
  writeYaml(parseJsonText(Buffer.from(json), { exactNumbers: true }));

/** @see https://yaml.org/type/float.html, where the exponent's sign is no choice */
const FLOAT_OF_YAML_1_1 = /^[-+]?\d[\d_]*\.[\d_]*[eE][-+]\d+$/;

const oddities =
  '\n \t\r a#:-"\'0|>%&*!?=,[]{}@`~\u007f\u0085\u00a0\u00e9\u2028\u200b\ufeff\ud83d'.split('');
const words = ['yes', 'No', 'null', '~', '<<', '=', '0x1', '1_000', '1e3', 'E0', '.inf', '-'];
const shapes = ['2001-01-01', '12:30:45', '---', '...', '? a', '- a', 'a: b', 'a #b', '!!str x'];
const text = fc
  .oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(...oddities) }),
    fc.string({ unit: fc.constantFrom('\n', ' ', '\t', 'a', '#', '-') }),
    fc.constantFrom(...words, ...shapes, 'a'.repeat(1100), '"'.repeat(1100)),
  )
  .filter((one) => one !== '__proto__' && one.isWellFormed());
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    fc.integer(),
    fc.constantFrom(null, true, false),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4 }),
  ),
}));

test.each(['1.1', '1.2'] as const)('what is written is read alike as YAML %s', (version) => {
  fc.assert(
    fc.property(value, (given) => {
      const json = JSON.stringify(given);
      const read: unknown = parse(yamlOf(json), { version, merge: version === '1.1' });
      expect(read).toEqual(JSON.parse(json));
    }),
    { numRuns: 500 },
  );
});

test('signs that YAML 1.1 reads as ends of lines, or not at all, are escapes', () => {
  const signs = ['\u007f', '\u0085', '\u009f', '\u2028', '\u2029', '\ufeff', '\uffff'];
  const given = Object.fromEntries(
    signs.map((sign) => [`a${sign}`, [sign, `a${sign}b\nc`.repeat(9)]]),
  );
  const yaml = yamlOf(JSON.stringify(given));
  expect(signs.filter((sign) => yaml.includes(sign))).toEqual([]);
  expect(parse(yaml)).toEqual(given);
});

test('an equals sign alone, which parsers of YAML 1.1 take for the default of a map, is a text', () => {
  expect(yamlOf('{"enum":["=","<","!="],"=":1}')).toBe('enum:\n  - "="\n  - <\n  - "!="\n"=": 1\n');
});

test('reads well: no quotes around plain words, lines of a text below each other', () => {
  const json = JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Pets & more', description: 'One.\n\n  Two.\n', 'x-none': null },
    paths: { '/pets/{id}': { get: { tags: ['a', 'no'], responses: { 200: {} } } } },
    list: [{ a: 1, b: [[true], []] }, 'one\ntwo'],
  });
  expect(yamlOf(json)).toBe(`openapi: 3.1.0
info:
  title: Pets & more
  description: |
    One.

      Two.
  x-none: null
paths:
  /pets/{id}:
    get:
      tags:
        - a
        - "no"
      responses:
        "200": {}
list:
  - a: 1
    b:
      - - true
      - []
  - |-
    one
    two
`);
});

test('a number keeps every digit', () => {
  const json = '{"a":12345678901234567890,"b":[0.12345678901234567890123,1e400]}';
  expect(yamlOf(json)).toBe(
    'a: 12345678901234567890\nb:\n  - 0.12345678901234567890123\n  - 1.0e+400\n',
  );
});

test.each([
  ['1e400', '1.0e+400'],
  ['-1E-400', '-1.0e-400'],
  ['5e-324', '5.0e-324'],
  ['1.7976931348623157e308', '1.7976931348623157e+308'],
])('%s is a number for YAML 1.1, too, which asks for a point and a sign', (json, yaml) => {
  expect(yaml).toMatch(FLOAT_OF_YAML_1_1);
  expect(yamlOf(`{"a":${json}}`)).toBe(`a: ${yaml}\n`);
});

test('what would be longer than 16 Mi characters is not written', () => {
  const long = (characters: number): string => JSON.stringify({ a: 'x'.repeat(characters) });
  const max = 16 * 1024 * 1024;
  expect(renderSpecYaml(long(max - 'a: \n'.length))).toHaveLength(max);
  expect(renderSpecYaml(long(max))).toBeUndefined();
});
