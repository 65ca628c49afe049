import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';

type Schema = { examples?: unknown[]; properties?: object; required?: string[] };

const document = JSON.parse(readFileSync('openapi.json', 'utf8')) as {
  components: { schemas: Record<string, Schema> };
};
const ajv = new Ajv2020({ strict: false, allErrors: true });
(addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
ajv.addSchema(document, 'openapi');

const withExamples = Object.entries(document.components.schemas).filter(
  ([, { examples }]) => examples !== undefined,
);

describe('the examples of openapi.json', () => {
  test('are there for what people look for first', () => {
    expect(withExamples.map(([name]) => name)).toEqual(
      expect.arrayContaining(['Lead', 'LeadList', 'Receipt', 'Artifact', 'Consumer', 'Problem']),
    );
  });

  test.each(withExamples)('of %s are what their schema says', (name, { examples = [] }) => {
    const validate = ajv.compile({ $ref: `openapi#/components/schemas/${name}` });
    for (const example of examples) {
      validate(example);
      expect(validate.errors ?? []).toEqual([]);
    }
  });
});
