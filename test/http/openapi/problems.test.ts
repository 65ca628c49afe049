import { describe, expect, test } from 'vitest';
import { type DeclaredResponse, operationsOf, readOpenApi } from '../../support/http/openapi.ts';

const { document } = readOpenApi();
const operations = operationsOf(document);
const problems = operations.flatMap(({ path, method, operation }) =>
  Object.entries(operation.responses)
    .filter(([status]) => Number(status) >= 400)
    .map(([status, response]) => ({ path, method, status: Number(status), response })),
);

function codesOf({ description }: DeclaredResponse): string[] {
  return [...description.matchAll(/`([a-z-]+)`:/g)].map((match) => match[1] ?? '');
}

describe('the problems of openapi.json', () => {
  test.each(problems)('$method $path $status shows each of its codes', ({ status, response }) => {
    const { examples = {} } = response.content?.['application/problem+json'] ?? {};
    expect(Object.keys(examples).sort()).toEqual(codesOf(response).sort());
    for (const [code, { $ref }] of Object.entries(examples)) {
      expect($ref).toBe(`#/components/examples/${code}`);
      expect(document.components.examples[code]?.value).toMatchObject({ code, status });
    }
  });

  test.each(operations.filter(({ method }) => method !== 'get'))(
    '$method $path tells what a body is refused for, wanted or not',
    ({ operation: { responses } }) => {
      const codes = Object.values(responses).flatMap(codesOf);
      expect(codes).toEqual(
        expect.arrayContaining(['malformed-json', 'payload-too-large', 'unsupported-media-type']),
      );
    },
  );

  test.each(operations.filter(({ operation }) => operation.security.length > 0))(
    '$method $path tells that refused calls are limited',
    ({ operation: { responses } }) => {
      expect(Object.keys(responses)).toContain('429');
      expect(responses['401']?.headers).toHaveProperty('WWW-Authenticate');
    },
  );

  test.each(
    problems.filter(({ response }) => codesOf(response).includes('idempotency-in-progress')),
  )('$method $path $status says when the same may be sent again', ({ response }) => {
    expect(response.headers).toHaveProperty('Retry-After');
  });

  /** Those that come before a key is known, or for no fault of the request. */
  const uncounted = new Set([401, 403, 405, 408, 413, 414, 415, 431, 500]);
  const ofKeys = operations.filter(({ operation }) =>
    operation.security.some((scheme) => 'ApiKey' in scheme),
  );

  test.each(ofKeys)('$method $path tell what is left of a key’s calls', ({ operation }) => {
    const silent = Object.entries(operation.responses).filter(
      ([status, { headers = {} }]) => !uncounted.has(Number(status)) && !('RateLimit' in headers),
    );
    expect(silent.map(([status]) => status)).toEqual([]);
  });
});
