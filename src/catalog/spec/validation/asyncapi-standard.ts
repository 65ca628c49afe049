import type { SpecStandard } from './spec-standard.ts';

/**
 * AsyncAPI 2.0 to 2.6, 3.0 and 3.1. A patch number changes nothing that tools may tell apart.
 * @see https://www.asyncapi.com/docs/reference/specification/v3.1.0#A2SVersionString
 */
export const asyncApi: SpecStandard = {
  versionOf: ({ asyncapi }) =>
    typeof asyncapi === 'string' ? /^(2\.[0-6]|3\.[01])\.\d+$/.exec(asyncapi)?.[1] : undefined,
  versionKey: () => 'asyncapi',
  known: 'Known are `asyncapi` 2.0.0 to 2.6.0, 3.0.0 and 3.1.0, each written as a string.',
  loadCheck: async (version) => {
    const { loadAsyncApiCheck } = await import('./asyncapi-schema.ts');
    return loadAsyncApiCheck(version);
  },
};
