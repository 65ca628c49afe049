import type { SpecStandard } from './spec-standard.ts';

/** Swagger 2.0, OpenAPI 3.0, 3.1 and 3.2. */
export const openApi: SpecStandard = {
  versionOf: ({ openapi, swagger }) => {
    if (swagger !== undefined) return swagger === '2.0' ? swagger : undefined;
    const known = /^(3\.[012])(?:\.\d+)?(?:-[0-9A-Za-z.-]+)?$/;
    return typeof openapi === 'string' ? known.exec(openapi)?.[1] : undefined;
  },
  versionKey: (document) => (Object.hasOwn(document, 'swagger') ? 'swagger' : 'openapi'),
  known: 'Known are `swagger: "2.0"` and `openapi` 3.0, 3.1 and 3.2, each written as a string.',
  loadCheck: async (version) => {
    const { loadOpenApiCheck } = await import('./openapi-schema.ts');
    return loadOpenApiCheck(version);
  },
};
