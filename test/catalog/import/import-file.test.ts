import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ARTIFACT_ID, coreSources, coreTypes, VERSION } from '#catalog/version/artifact.ts';
import { checkDraft } from '#catalog/version/content-check.ts';
import { type ImportedDraft, parseImportFile } from '#catalog/import/import-file.ts';

const yaml = (text: string, name = 'file.yaml'): ImportedDraft =>
  parseImportFile({ name, bytes: Buffer.from(text) }).draft;
const json = (value: unknown, name = 'file.json'): ImportedDraft =>
  parseImportFile({ name, bytes: Buffer.from(JSON.stringify(value)) }).draft;

describe('an OpenAPI document', () => {
  test('becomes an artifact of type API, named by its title', () => {
    const document = {
      openapi: '3.1.0',
      info: {
        title: '  Pet Store API\n(v2) – Größe ',
        version: '2.0.0',
        description: 'Sells pets.\n',
        contact: { name: 'Team Pets' },
      },
      paths: {},
    };
    expect(json(document)).toEqual({
      id: 'pet-store-api-v2-grosse',
      version: '2.0.0',
      type: 'API',
      owner: 'Team Pets',
      title: 'Pet Store API (v2) – Größe',
      description: 'Sells pets.',
      source: 'FILE',
      specText: JSON.stringify(document),
    });
  });

  test.each([
    [{ title: 'Ünïcode Ltd.' }, 'unicode-ltd'],
    [{ title: '???' }, 'the-file.v1'],
    [{ title: 7 }, 'the-file.v1'],
    [{ title: `${'x'.repeat(127)} y` }, 'x'.repeat(127)],
  ])('with the info %j has the id %s', (info, id) => {
    expect(json({ openapi: '3.0.0', info }, 'The File.v1.json').id).toBe(id);
  });

  test('a text that nobody can see counts as none', () => {
    const unseen = '\u200b\u{e0101}';
    const info = { title: unseen, description: unseen, 'x-owner': unseen, contact: { name: 'b' } };
    const { title, description, owner } = json({ openapi: '3.0.0', info }, 'pets.json');
    expect({ title, description, owner }).toEqual({
      title: 'pets',
      description: undefined,
      owner: 'b',
    });
  });

  test.each([
    ['1.2.3', '1.2.3'],
    ['1.2.3+5f3c2e1', '1.2.3'],
    ['1.2.3-rc.1+5f3c2e1', '1.2.3-rc.1'],
    ['1.0.0+build 7', '1.0.0'],
    ['2024-06+1+2', '2024-06'],
    [' v1 beta ', 'v1-beta'],
    [1.5, '1.5'],
    [null, '1.0.0'],
    ['++', '1.0.0'],
    ['9'.repeat(80), '9'.repeat(64)],
  ])('with the version %j gets %s', (version, expected) => {
    expect(json({ openapi: '3.0.0', info: { version } }).version).toBe(expected);
  });

  test.each([
    [{ 'x-owner': 'team-a', contact: { name: 'b' } }, 'team-a'],
    [{ contact: { name: 'b', email: 'c@example.com' } }, 'b'],
    [{ contact: { email: 'c@example.com' } }, 'unknown'],
    [{ 'x-owner': ' ' }, 'unknown'],
  ])('with the info %j belongs to %s', (info, owner) => {
    expect(json({ openapi: '3.0.0', info }).owner).toBe(owner);
  });

  test.each(['1.10', '2.0', '1.0e2', '12345678901234567890.10'])(
    'with the number %s as its version gets what is written, in YAML and in JSON',
    (version) => {
      const document = `{ "openapi": "3.0.3", "info": { "version": ${version} }, "x-version": 1 }`;
      expect(yaml(document).version).toBe(version);
      expect(parseImportFile({ name: 'a.json', bytes: Buffer.from(document) }).draft.version).toBe(
        version,
      );
    },
  );

  test('is the same in YAML as in JSON, digit by digit', () => {
    const text = `
openapi: 3.0.3
info: &info { title: Pets, version: "1.10" }
paths: {}
x-info: *info
x-values: { big: 12345678901234567890, hex: 0x10, none: ~, yes: yes, date: 2026-01-01, 200: ok, f: 1.50, long: 0.1234567890123456789 }
`;
    expect(yaml(text)).toMatchObject({ id: 'pets', version: '1.10', type: 'API' });
    expect(yaml(text).specText).toBe(
      '{"openapi":"3.0.3","info":{"title":"Pets","version":"1.10"},"paths":{},"x-info":{"title":"Pets","version":"1.10"},"x-values":{"200":"ok","big":12345678901234567890,"hex":16,"none":null,"yes":"yes","date":"2026-01-01","f":1.5,"long":0.1234567890123456789}}',
    );
  });

  test('whatever its info says, the draft is one that a create accepts', () => {
    const words = { types: coreTypes, sources: coreSources };
    const value = fc
      .oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.jsonValue())
      .filter((one) => !JSON.stringify(one).includes('__proto__')); // refused as JSON
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('title', 'version', 'description', 'x-owner'), value),
        value,
        (info, name) => {
          const draft = json({ openapi: '3.0.0', info: { ...info, contact: { name } } });
          expect(draft.id).toMatch(ARTIFACT_ID);
          expect(draft.version).toMatch(VERSION);
          checkDraft(draft, words);
        },
      ),
    );
  });
});

test('swagger 2.0 is type API, AsyncAPI is type EVENT', () => {
  expect(json({ swagger: '2.0', info: { title: 'a' } }).type).toBe('API');
  expect(json({ asyncapi: '3.0.0', info: { title: 'a' } }).type).toBe('EVENT');
});

describe('an artifact file', () => {
  test('holds the fields of a create', () => {
    const text = `
id: orders
type: PRODUCT
owner: team-a
title: Orders
version: "2.0"
description: All of it
projectId: p
groupPath: shop/orders
members: [orders-api]
counts: { endpoints: 3 }
spec: { a: null, n: 12345678901234567890 }
`;
    expect(yaml(text)).toEqual({
      id: 'orders',
      type: 'PRODUCT',
      owner: 'team-a',
      title: 'Orders',
      version: '2.0',
      description: 'All of it',
      source: 'FILE',
      projectId: 'p',
      groupPath: 'shop/orders',
      members: ['orders-api'],
      counts: { endpoints: 3 },
      specText: '{"a":null,"n":12345678901234567890}',
    });
  });

  test('has the version 1.0.0 and the source FILE unless it says otherwise', () => {
    const least = { id: 'a', type: 'API', owner: 'o', title: 't' };
    expect(json(least)).toEqual({ ...least, version: '1.0.0', source: 'FILE' });
    expect(json({ ...least, source: 'GIT' }).source).toBe('GIT');
  });

  test('is told every wrong field at once', () => {
    const wrong = { id: 1, type: 'API', members: ['a', 2], counts: [], spec: [], colour: 'red' };
    const problems = [
      ['#/id', 'invalid'],
      ['#/owner', 'missing'],
      ['#/title', 'missing'],
      ['#/spec', 'invalid'],
      ['#/members/1', 'invalid'],
      ['#/counts', 'invalid'],
      ['#/colour', 'unknown'],
    ].map(([pointer, code]) => expect.objectContaining({ pointer, code }));
    expect(() => json(wrong)).toThrow(
      expect.objectContaining({ code: 'validation-failed', errors: problems }),
    );
  });
});

test.each(['[]', '3', 'null', '{}', '{"name":"package"}'])('%s is no artifact', (text) => {
  expect(() => yaml(text)).toThrow(expect.objectContaining({ code: 'validation-failed' }));
});

test.each([
  ['broken YAML', 'a: [1,'],
  ['two documents', 'a: 1\n---\nb: 2\n'],
  ['a repeated key', 'id: a\nid: b\n'],
  ['an infinite number', 'spec: { a: .inf }'],
  ['an unknown alias', 'a: *nothing'],
  ['an alias inside its own anchor', 'id: a\nspec: &s { a: *s }'],
  ['__proto__', 'id: a\nspec: { __proto__: { x: 1 } }'],
  ['65 levels', `id: a\nspec: ${'{a: '.repeat(65)}1${'}'.repeat(65)}`],
  [
    'an alias bomb',
    `a: &a [1,1,1,1,1,1,1,1,1]\n${'bcdefghij'
      .split('')
      .map(
        (name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghij'[index]}`).join()}]`,
      )
      .join('\n')}`,
  ],
])('%s is refused', (_name, text) => {
  expect(() => yaml(text)).toThrow(expect.objectContaining({ code: 'malformed-json' }));
});

test('bytes that are not UTF-8 are refused', () => {
  for (const name of ['a.yaml', 'a.json'])
    expect(() => parseImportFile({ name, bytes: Buffer.from([0x7b, 0xff, 0x7d]) })).toThrow(
      expect.objectContaining({ code: 'malformed-json' }),
    );
});
