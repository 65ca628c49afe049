/** Requests that a document lists are those of `openapi.json`, with their parameters. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { blocksOf, documents, isRequestLines } from '../support/documents.ts';

type Parameter = { name: string };
type Operation = { parameters?: (Parameter | { $ref: string })[] };

const { paths, components } = JSON.parse(readFileSync('openapi.json', 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
  components: { parameters: Record<string, Parameter> };
};

const nameOf = (parameter: Parameter | { $ref: string }): string | undefined =>
  '$ref' in parameter
    ? components.parameters[parameter.$ref.split('/').at(-1) ?? '']?.name
    : parameter.name;

const blocks = documents.flatMap(blocksOf).filter(isRequestLines);

test.each(blocks)('$place names paths and parameters that are there', ({ text }) => {
  const requests = [...text.matchAll(/^([A-Z]+) ([^?\s]+)(?:\?(.*))?$/gm)];
  expect(requests.length).toBeGreaterThan(0);
  for (const [, method = '', path = '', query = ''] of requests) {
    const operation = paths[path]?.[method.toLowerCase()];
    const names = operation?.parameters?.map(nameOf) ?? [];
    const used = query.split('&').flatMap((part) => part.split('=', 1).filter(Boolean));
    expect([path, operation !== undefined]).toEqual([path, true]);
    expect(names).toEqual(expect.arrayContaining(used));
  }
});
