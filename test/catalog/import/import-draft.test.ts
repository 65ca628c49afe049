import { expect, test } from 'vitest';
import { diffSpecs } from '#catalog/diff/diff-specs.ts';
import { parseImportFile } from '#catalog/import/import-file.ts';
import { judgeDraft } from '#catalog/import/import-draft.ts';
import type { Candidate } from '#catalog/version/version-order.ts';

const published = { version: '1.0.0', serial: 1, lifecycle: 'PUBLISHED' } as Candidate;
const get = { responses: { 200: { description: 'ok' } } };
const info = { title: 'Shop', version: '1.1.0' };
const api = (...paths: string[]) => ({
  openapi: '3.1.0',
  info,
  paths: Object.fromEntries(paths.map((path) => [path, { get }])),
});
const events = { asyncapi: '3.0.0', info };

/** Imports made to judge `after` where `before` is published. */
async function judging(before: object, after: object) {
  const done: string[] = [];
  const deps: Parameters<typeof judgeDraft>[0] = {
    checkSpec: async () => [],
    diffSpecs: async (specs) => {
      done.push('compared');
      return diffSpecs(specs);
    },
  };
  const target: Parameters<typeof judgeDraft>[1] = {
    candidates: async () => [published],
    specText: async () => {
      done.push('read');
      return JSON.stringify(before);
    },
  };
  const bytes = Buffer.from(JSON.stringify(after));
  const { draft } = parseImportFile({ name: 'a.json', bytes });
  const { breaking } = await judgeDraft(deps, target, draft);
  return { breaking: breaking.length, done };
}

test('the specs of a pair that can break something are read and compared', async () => {
  expect(await judging(api('/a', '/b'), api('/a'))).toEqual({
    breaking: 1,
    done: ['read', 'compared'],
  });
});

test('of what can break nothing the older spec is not read, nor is anything compared', async () => {
  expect(await judging(api('/a'), events)).toEqual({ breaking: 0, done: [] });
  expect(await judging(events, api('/a'))).toEqual({ breaking: 0, done: ['read'] });
});
