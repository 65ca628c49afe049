import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

type Response = {
  description: string;
  headers: Record<string, object>;
  content?: Record<string, { examples?: Record<string, { $ref: string }> }>;
};
type Operation = { security: object[]; responses: Record<string, Response> };
const document = JSON.parse(readFileSync('openapi.json', 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
  components: { examples: Record<string, { value: { code: string; status: number } }> };
};

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);
const problems = operations.flatMap(({ path, method, operation }) =>
  Object.entries(operation.responses)
    .filter(([status]) => Number(status) >= 400)
    .map(([status, response]) => ({ path, method, status: Number(status), response })),
);

function codesOf({ description }: Response): string[] {
  return [...description.matchAll(/`([a-z-]+)`:/g)].map((match) => match[1] ?? '');
}

describe('the problems of openapi.json', () => {
  it.each(problems)('$method $path $status shows each of its codes', ({ status, response }) => {
    const { examples = {} } = response.content?.['application/problem+json'] ?? {};
    expect(Object.keys(examples).sort()).toEqual(codesOf(response).sort());
    for (const [code, { $ref }] of Object.entries(examples)) {
      expect($ref).toBe(`#/components/examples/${code}`);
      expect(document.components.examples[code]?.value).toMatchObject({ code, status });
    }
  });

  it.each(operations.filter(({ method }) => method !== 'get'))(
    '$method $path tells what a body is refused for, wanted or not',
    ({ operation: { responses } }) => {
      const codes = Object.values(responses).flatMap(codesOf);
      expect(codes).toEqual(
        expect.arrayContaining(['malformed-json', 'payload-too-large', 'unsupported-media-type']),
      );
    },
  );

  it.each(operations.filter(({ operation }) => operation.security.length > 0))(
    '$method $path tells that refused calls are limited',
    ({ operation: { responses } }) => {
      expect(Object.keys(responses)).toContain('429');
      expect(responses['401']?.headers).toHaveProperty('WWW-Authenticate');
    },
  );
});
