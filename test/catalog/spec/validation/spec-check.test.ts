import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FINDINGS_MAX } from '#catalog/spec/finding.ts';
import { findingsOf } from '#catalog/spec/validation/spec-check.ts';
import { specKindOf } from '#catalog/spec/spec-kind.ts';
import { treesOf } from './trees.ts';

const paths = { '/a': { get: { responses: { 200: { description: 'ok' } } } } };
const info = { title: 'x', version: '1' };
const valid = (facts: object): object => ({ info, paths, ...facts });
const check = async (document: object) => findingsOf(JSON.stringify(document));

test.each([
  [{ openapi: '3.0.4' }],
  [{ openapi: '3.1.1' }],
  [{ openapi: '3.2.0' }],
  [{ swagger: '2.0' }],
])('a valid document of %j has no findings', async (facts) => {
  expect(await check(valid(facts))).toEqual([]);
});

test.each([
  [{ openapi: '3.0.4' }, 'required'],
  [{ openapi: '3.1.1' }, 'required'],
  [{ openapi: '3.2.0' }, 'required'],
  [{ swagger: '2.0' }, 'required'],
])('a document of %j without info has a finding', async (facts, code) => {
  expect(await check({ paths, ...facts })).toContainEqual(
    expect.objectContaining({ pointer: '#/spec', code }),
  );
});

test.each([
  [{ openapi: '4.0.0' }, '#/spec/openapi'],
  [{ openapi: 3 }, '#/spec/openapi'],
  [{ openapi: null }, '#/spec/openapi'],
  [{ swagger: '1.2' }, '#/spec/swagger'],
  [{ swagger: 2 }, '#/spec/swagger'],
])('a version that is not known is a finding: %j', async (facts, pointer) => {
  expect(await check(valid(facts))).toEqual([
    expect.objectContaining({ pointer, code: 'unknown-version' }),
  ]);
});

test.each([[{ type: 'object' }], [{}], [{ data: { openapi: '3.0.0', asyncapi: '3.0.0' } }]])(
  'what says of itself that it follows no standard is not validated: %j',
  async (document) => {
    expect(await check(document)).toEqual([]);
  },
);

test('kinds are told by the document itself', () => {
  expect(specKindOf({ openapi: '3.0.0' })).toBe('openapi');
  expect(specKindOf({ swagger: '2.0' })).toBe('openapi');
  expect(specKindOf({ asyncapi: '2.6.0' })).toBe('asyncapi');
  expect(specKindOf({})).toBe('other');
  expect(specKindOf(null)).toBe('other');
});

test('pointers lead to the place, escaped for a fragment', async () => {
  const document = valid({ openapi: '3.0.0', paths: { '/a b/ü': { get: { responses: 1 } } } });
  const findings = await check(document);
  expect(findings[0]?.pointer).toBe('#/spec/paths/~1a%20b~1%C3%BC/get/responses');
});

test('references that lead nowhere are found, those in data, named ones and others are not', async () => {
  const schemas = {
    Good: { type: 'object', properties: { $ref: { type: 'string' } } },
    Loop: { $ref: '#/components/schemas/Good' },
    'With/slash': { $ref: '#/components/schemas/With~1slash' },
    Encoded: { $ref: '#/components/schemas/With%7E1slash' },
    Elsewhere: { $ref: 'https://example.com/x.json#/y' },
    Broken: { $ref: '#/components/schemas/Missing' },
    Sample: { type: 'object', example: { $ref: '#/nowhere' } },
    Prototype: { $ref: '#/components/schemas/constructor' },
  };
  const findings = await check(valid({ openapi: '3.0.0', components: { schemas } }));
  expect(findings.map(({ pointer, code }) => [pointer, code])).toEqual([
    ['#/spec/components/schemas/Broken/$ref', 'unresolved-reference'],
    ['#/spec/components/schemas/Prototype/$ref', 'unresolved-reference'],
  ]);
});

test('findings are many at once, but bounded in number and length', async () => {
  const wrong = Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [
      `/p${index}`,
      { get: { responses: {}, ['x'.repeat(index === 0 ? 400 : 9)]: 1 } },
    ]),
  );
  const findings = await check(valid({ swagger: '2.0', paths: wrong }));
  expect(findings.length).toBeGreaterThan(1);
  expect(findings.length).toBeLessThanOrEqual(FINDINGS_MAX + 1);
  for (const { detail } of findings) expect(detail.length).toBeLessThanOrEqual(300);
});

test('a malformed reference is found among other findings', async () => {
  const document = valid({ openapi: '3.1.0', 'x-a': 1, b: { $ref: '#/%ZZ' } });
  const codes = (await check(document)).map(({ code }) => code);
  expect(codes).toEqual(['unevaluatedProperties', 'unresolved-reference']);
});

test('whatever stands in a document, it is checked and never thrown at', async () => {
  const names = ['$ref', '$id', '$anchor', '$schema', '$dynamicRef', 'paths', 'a/~b'];
  const tree = treesOf(names, ['#', '#/', '#/paths', '#a']);
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('3.0.0', '3.1.0', '3.2.0'), tree, async (openapi, node) => {
      expect(await check(valid({ openapi, components: node, 'x-data': node }))).toBeInstanceOf(
        Array,
      );
    }),
    { numRuns: 300 },
  );
});

test('two documents at once do not mix up their findings', async () => {
  const [left, right] = await Promise.all([
    check(valid({ openapi: '3.0.0' })),
    check({ openapi: '3.0.0' }),
  ]);
  expect(left).toEqual([]);
  expect(right).not.toEqual([]);
});
