import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type JsonRules, parseJsonText, parseTrustedJson } from '#shared/text/json.ts';
import { stepsOf } from '../../support/work/steps.ts';

const parse = (text: string, rules?: JsonRules): unknown => parseJsonText(Buffer.from(text), rules);
const refused = expect.objectContaining({ code: 'malformed-json' });

describe('a name that stands twice in one object is refused', () => {
  test.each([
    ['side by side', '{"a":1,"a":1}'],
    ['far apart', '{"a":1,"b":{"a":2},"c":[{"a":3}],"a":4}'],
    ['with an escape', String.raw`{"a":1,"\u0061":2}`],
    ['with escapes of two kinds', String.raw`{"\u002f":1,"\/":2}`],
    ['as two halves of a character', String.raw`{"😀":1,"\ud83d\ude00":2}`],
    ['empty', '{"":1,"":2}'],
    ['like a number', '{"7":1,"7":2}'],
    ['deep inside', '[0,{"x":[[{"y":{"a":1,"a":1}}]]}]'],
    ['beside white space', '{"a" : 1 , "a"\n:\t2}'],
    ['of objects', '{"a":{"b":1},"a":{"c":1}}'],
    ['beside numbers that become text', '{"id":12345678901234567890,"id":12345678901234567891}'],
    ['named as a member of every object', '{"constructor":1,"constructor":2}'],
  ])('%s', (_where, text) => {
    expect(() => parse(text)).toThrow(refused);
    expect(() => parse(text, { exactNumbers: true })).toThrow(refused);
  });
});

test('the refusal says which name, shortened and without control characters', () => {
  const text = (name: string) => `{"x":{${name}:1,"ok":"${'a'.repeat(9)}",${name}:2}}`;
  expect(() => parse(text('"leadId"'))).toThrow('The name `leadId` stands twice');
  expect(() => parse(text(String.raw`"le\u001b\u0061d"`))).toThrow('The name `le?ad` stands twice');
  expect(() => parse(text(`"${'n'.repeat(999)}"`))).toThrow(`\`${'n'.repeat(64)}\``);
});

test.each([
  '{"a":1,"A":2,"a ":3,"\u00e1":4,"a\u0301":5}',
  '[{"a":1},{"a":2}]',
  '{"a":{"a":{"a":1}}}',
  '{"a":"\\"a\\":1,\\"a\\":2","b":"{:::}"}',
  '{"rawJSON":12345678901234567890}',
])('%s has no name twice', (text) => {
  expect(parse(text)).toMatchObject(JSON.parse(text.replace(/(\d{16,})/, '"$1"')) as object);
});

test('where the sender is trusted the last one counts, and what else is refused stays so', () => {
  expect(parseTrustedJson('{"a":1,"a":{"b":2}}')).toEqual({ a: { b: 2 } });
  const many = `[${'{"a":[]},'.repeat(100)}1]`;
  expect(parseTrustedJson(many)).toEqual(JSON.parse(many));
  const templates = JSON.stringify(Array.from({ length: 200 }, () => 'https://a.example{/id}'));
  expect(parseTrustedJson(templates)).toEqual(JSON.parse(templates));
  const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
  expect(parseTrustedJson(deep(64))).toEqual(JSON.parse(deep(64)));
  for (const text of [
    '{"a":1,"__proto__":1}',
    String.raw`{"a":[{"\u005f_proto__":1}]}`,
    deep(65),
    `["{/"${`,["{/"`.repeat(64)}${']'.repeat(65)}`,
    '{"a":'.repeat(65) + '1' + '}'.repeat(65),
    '{',
    '{} {}',
  ])
    expect(() => parseTrustedJson(text)).toThrow(refused);
});

type Member = { name: string; escaped: boolean; below: Member[] };

const { object } = fc.letrec<{ object: Member[] }>((tie) => ({
  object: fc.array(
    fc.record({
      name: fc.constantFrom('a', 'b', 'é', '1', '', '\n'),
      escaped: fc.boolean(),
      below: fc.oneof({ depthSize: 'small' }, fc.constant<Member[]>([]), tie('object')),
    }),
    { maxLength: 3 },
  ),
}));

function escaped(name: string): string {
  const digits = (at: number) => name.charCodeAt(at).toString(16).padStart(4, '0');
  return `"${Array.from({ length: name.length }, (_, at) => `\\u${digits(at)}`).join('')}"`;
}

const write = (members: Member[]): string =>
  `{${members.map((one) => `${one.escaped ? escaped(one.name) : JSON.stringify(one.name)}:${write(one.below)}`).join()}}`;
const repeats = (members: Member[]): boolean =>
  new Set(members.map(({ name }) => name)).size < members.length ||
  members.some(({ below }) => repeats(below));

test('any nesting of any spellings is refused exactly when a name stands twice', () => {
  fc.assert(
    fc.property(object, (members) => {
      if (repeats(members)) expect(() => parse(write(members))).toThrow(refused);
      else expect(parse(write(members))).toEqual(JSON.parse(write(members)));
    }),
    { numRuns: 500 },
  );
});

/** Characters that are read until the text is refused. */
function stepsFor(text: string): number {
  const bytes = Buffer.from(text);
  let refusal: unknown;
  const steps = stepsOf(() => {
    try {
      parseJsonText(bytes);
    } catch (error) {
      refusal = error;
    }
  });
  expect(refusal).toEqual(refused);
  return steps;
}

const members = (count: number, name: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => `"${name(at)}":0`).join();

test.each<[string, (count: number) => string]>([
  ['many names', (count) => `{${members(count, (at) => `k${at}`)},"k0":0}`],
  ['many escaped names', (count) => `{${members(count, (at) => `\\u006b${at}`)},"k0":0}`],
  ['names like numbers', (count) => `{${members(count, (at) => `${at * 1_000_003}`)},"0":0}`],
  ['one name again and again', (count) => `{${members(count, () => 'k')}}`],
  ['many objects', (count) => `[${'{"a":0},'.repeat(count)}{"a":0,"a":0}]`],
])('%s: four times as many take four times as many steps', (_name, make) => {
  const few = stepsFor(make(20_000));
  const many = stepsFor(make(80_000));
  // Numbers have more digits, too.
  expect(many / few).toBeGreaterThan(3);
  expect(many / few).toBeLessThan(6);
});
