import type { CatalogRules } from '#catalog/index.ts';

/** The least that a version says of itself. */
export const petstore = { id: 'petstore', type: 'API', owner: 'team-a', title: 'Pet store' };

/** A document of operations that read, one at each path. */
export const petApi = (...paths: string[]) => ({
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1' },
  paths: Object.fromEntries(
    paths.map((path) => [path, { get: { responses: { 200: { description: 'Well.' } } } }]),
  ),
});

/** Configuration of a test. */
export const catalogRules: CatalogRules = {
  types: ['DASHBOARD'],
  sources: ['CRAWLER'],
  public: [],
  findings: 'block',
  compatibility: 'warn',
};
