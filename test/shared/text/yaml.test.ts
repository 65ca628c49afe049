import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { readYaml, renderYamlFault, type YamlOptions } from '#shared/text/yaml.ts';
import { stepsOf } from '../../support/work/steps.ts';

function faultsOf(text: string, options?: YamlOptions): string[] {
  const read = readYaml(text, options);
  return 'faults' in read ? read.faults.map(renderYamlFault) : [];
}

describe('what is wrong with YAML is told by line and column, in the words of the library', () => {
  test.each([
    ['a: 1\nb: 2\na: 3', 'line 3, column 1: Map keys must be unique'],
    ['a: 1\n---\nb: 2', 'line 2, column 1: Source contains multiple documents'],
    ['a: !foo x', 'line 1, column 4: Unresolved tag'],
  ])('%j', (text, fault) => {
    expect(faultsOf(text)).toEqual([fault]);
  });

  test.each([
    ['[', '['.repeat(100_000)],
    ['{a: ', `b: ${'{a: '.repeat(100_000)}`],
    ['[1, ', '[1,'.repeat(100_000)],
    ['- ', `b:\n- ${'- '.repeat(100_000)}`],
    ['lines', Array.from({ length: 4000 }, (_, at) => `${' '.repeat(at)}a:\n`).join('')],
  ])('what nests without an end is one fault: %s', (_name, text) => {
    expect(faultsOf(text)).toEqual([
      expect.stringMatching(/^line \d+, column \d+: Too many levels$/),
    ]);
  });

  test.each(['200: a\n"200": b', '~: a\n"": b', 'true: a\n"true": b'])(
    'one name of an object by two keys: %j',
    (text) => {
      for (const exactNumbers of [false, true])
        expect(faultsOf(text, { exactNumbers })).toEqual([
          'line 2, column 1: Map keys must be unique',
        ]);
    },
  );

  test.each(['!!set {a, b}', '!!timestamp 2020-01-01', '!!binary aGk=', '!!omap [a: 1]'])(
    'a tag that only YAML 1.1 has, with and without saying that it is that: %s',
    (value) => {
      expect(faultsOf(`a: ${value}`)).toEqual(['line 1, column 4: Unresolved tag']);
      expect(faultsOf(`%YAML 1.1\n---\na: ${value}`)).toEqual(['line 3, column 4: Unresolved tag']);
    },
  );

  test.each(['? [secret, b]\n: 1', '{a: 1}: 2', 'a: &x [1]\n*x : 2'])(
    'a name that is no text: %j',
    (text) => {
      const warn = vi.spyOn(process, 'emitWarning');
      onTestFinished(() => warn.mockRestore());
      expect(faultsOf(text)).toEqual([expect.stringMatching(/: Map keys must be texts$/)]);
      expect(warn).not.toHaveBeenCalled();
    },
  );

  test('but not more than a hundred', () => {
    expect(faultsOf('a: @\n'.repeat(5000))).toHaveLength(100);
  });

  test.each([
    ['a: &a [*a]', 'line 1, column 8'],
    ['a: &a\n  b: { c: *a }', 'line 2, column 11'],
    ['&a b: 1\nc: &c { <<: *c }', 'line 2, column 13'],
  ])('an alias inside its own anchor: %j', (text, place) => {
    expect(faultsOf(text)).toEqual([`${place}: Unresolved alias`]);
  });

  test('without a value of it', () => {
    const SECRET = 'hunter2hunter2';
    const texts = [
      `a: "${SECRET}`,
      `a: b: ${SECRET}`,
      `a: "x" ${SECRET}`,
      `a: !${SECRET} x`,
      `a: *${SECRET}`,
      `a: &x &${SECRET} 1`,
      `${SECRET}\nb: 1`,
      `a: @${SECRET}`,
      `a: |${SECRET}\n b`,
      `%${SECRET} x\n---\na: 1`,
      `a: {b: ${SECRET}\nc: 1`,
      `b: &x 1\na: &${SECRET} *x`,
      `${'x'.repeat(1100)}: ${SECRET}`,
      `a: !!str !!int ${SECRET}`,
    ];
    for (const text of texts) {
      const faults = faultsOf(text).join(' ');
      expect(faults).toMatch(/^line \d+, column \d+: [A-Z]/);
      expect(faults).not.toContain(SECRET);
    }
  });
});

const lines = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => `${line(at)}\n`).join('');

test.each<[string, (count: number) => string]>([
  ['keys', (count) => lines(count, (at) => `k${at}: 1`)],
  ['faults', (count) => lines(count, () => '\ta: 1')],
  ['keys that stand twice', (count) => lines(count, (at) => `- { k${at}: 1, k${at}: 1 }`)],
])('%s: four times as many take four times as many steps', (_name, make) => {
  const stepsFor = (text: string): number => stepsOf(() => readYaml(text));
  const few = stepsFor(make(500));
  const many = stepsFor(make(2000));
  // Numbers have more digits, too.
  expect(many / few).toBeGreaterThan(3);
  expect(many / few).toBeLessThan(6);
});

test('64 levels are read', () => {
  const text = `${'[{a: '.repeat(32)}[]${'}]'.repeat(32)}`;
  expect(JSON.stringify(readYaml(text))).toContain('[]');
});

describe('`<<` takes over the members of other maps, as every tool does', () => {
  const shared = 'a: &a { x: 1, y: 2 }\nb: &b { y: 3, z: 4 }\n';
  test.each([
    ['of one', '<<: *a', { x: 1, y: 2 }],
    ['of several, the first of which counts', '<<: [*a, *b]', { x: 1, y: 2, z: 4 }],
    ['what stands in the map counts, before', 'y: 9\n  <<: *a', { x: 1, y: 9 }],
    ['and behind', '<<: *a\n  y: 9', { x: 1, y: 9 }],
    ['of one that stands there', '<<: { q: 5 }', { q: 5 }],
    ['a text is a name', '"<<": 1', { '<<': 1 }],
  ])('%s', (_what, member, c) => {
    expect(readYaml(`${shared}c:\n  ${member}`)).toMatchObject({ value: { c } });
  });

  test('that have taken over some themselves', () => {
    const text = `${shared}c: &c { <<: *a, w: 0 }\nd: { <<: *c, x: 7 }`;
    expect(readYaml(text)).toMatchObject({ value: { d: { w: 0, x: 7, y: 2 } } });
  });
});

describe.each(['', '%YAML 1.1\n---\n', '%YAML 1.2\n---\n'])('behind %j', (directive) => {
  test.each([
    ['2020-01-01', '2020-01-01'],
    ['2001-12-14t21:59:43.10-05:00', '2001-12-14t21:59:43.10-05:00'],
    ['yes', 'yes'],
    ['n', 'n'],
    ['off', 'off'],
    ['1:30:00', '1:30:00'],
    ['017', 17],
    ['1_000', '1_000'],
    ['0b11', '0b11'],
    ['true', true],
    ['~', null],
    ['0x1F', 31],
  ])('%s is what YAML 1.2 says', (written, value) => {
    expect(readYaml(`${directive}a: ${written}`)).toEqual({ value: { a: value } });
  });

  test.each(['2020-01-01', '200', '1.10', '1e3', 'y', 'true', '12345678901234567890'])(
    '%s as a name is this text',
    (name) => {
      for (const exactNumbers of [false, true])
        expect(readYaml(`${directive}${name}: a`, { exactNumbers })).toEqual({
          value: { [name]: 'a' },
        });
    },
  );
});

test('what is right comes as plain values', () => {
  expect(readYaml('a: [1, x, null, true]\nb: &b { c: 1 }\nd: *b')).toEqual({
    value: { a: [1, 'x', null, true], b: { c: 1 }, d: { c: 1 } },
  });
  expect(readYaml('n: 12345678901234567890', { exactNumbers: true })).toEqual({
    value: { n: 12345678901234567890n },
  });
  const floats = '{ f: [1.10, -1e400, .5, 1.5], 1.10: &f 2.50, g: *f, h: +1.5, i: "1.10" }';
  const read = readYaml(floats, { exactNumbers: true });
  expect(JSON.stringify(read)).toBe(
    '{"value":{"f":[1.10,-1e400,0.5,1.5],"1.10":2.50,"g":2.50,"h":1.5,"i":"1.10"}}',
  );
  expect(readYaml('f: 1.10')).toEqual({ value: { f: 1.1 } });
  expect(readYaml('')).toEqual({ value: null });
});

test('any number of aliases is fine as long as what they make is', () => {
  const { value } = readYaml(`a: &a { b: 1 }\nc: [${'*a, '.repeat(5000)}*a]`) as { value: unknown };
  expect(value).toEqual({ a: { b: 1 }, c: Array.from({ length: 5001 }, () => ({ b: 1 })) });
});
