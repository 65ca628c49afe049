import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { RouteOptions } from 'fastify';
import { expect, test } from 'vitest';
import { servedText, type OpenApiDocument } from '#http/openapi/document.ts';

const made = readFileSync('openapi.json', 'utf8');
const whole = JSON.parse(made) as OpenApiDocument;

/** Routes that the file describes, `wanted` by their paths. */
const routesOf = (wanted: (path: string) => boolean): RouteOptions[] =>
  Object.entries(whole.paths ?? {})
    .filter(([path]) => wanted(path))
    .map(([path, item]) => ({
      method: Object.keys(item ?? {}).map((method) => method.toUpperCase()),
      url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
      handler: () => undefined,
    }));

test('an instance with every route serves the file as it is', async () => {
  const hidden = { method: 'GET', url: '/docs', handler: () => undefined } as const;
  expect(await servedText([...routesOf(() => true), hidden])).toBe(made);
});

test.each(['leads', 'catalog', 'consumers', 'receipts', 'partners'])(
  'an instance with the routes of %s alone shows them, and all that they use, and no more',
  async (area) => {
    const isIn = (path: string) => path.includes(`/${area}`);
    const text = await servedText(routesOf(isIn));
    const { paths = {}, components, tags = [] } = JSON.parse(text) as OpenApiDocument;
    const expected = Object.entries(whole.paths ?? {}).filter(([path]) => isIn(path));
    expect(expected.length).toBeGreaterThan(0);
    expect(paths).toEqual(Object.fromEntries(expected));
    const { securitySchemes = {}, ...shared } = components ?? {};
    for (const [kind, parts] of Object.entries(shared))
      for (const name of Object.keys(parts))
        expect(text).toContain(`"#/components/${kind}/${name}"`);
    for (const name of Object.keys(securitySchemes))
      expect(JSON.stringify(paths)).toContain(`"${name}":[`);
    for (const { name } of tags) expect(JSON.stringify(paths)).toContain(`"tags":["${name}"]`);
    expect(await new Validator().validate(JSON.parse(text))).toEqual({ valid: true });
  },
);

test('one operation of a path can be there without the others', async () => {
  const url = '/api/v1/catalog/:id';
  const text = await servedText([{ method: 'GET', url, handler: () => undefined }]);
  const { paths = {} } = JSON.parse(text) as OpenApiDocument;
  expect(Object.keys(paths)).toEqual(['/api/v1/catalog/{id}']);
  expect(Object.keys(paths['/api/v1/catalog/{id}'] ?? {})).toEqual(['get']);
});
