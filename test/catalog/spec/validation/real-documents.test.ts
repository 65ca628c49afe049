import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { findingsOf } from '#catalog/spec/validation/spec-check.ts';

/** Its responses are an empty object. */
const UNSOUND = 'openapi-workshop/post.json';
const files = globSync('node_modules/@readme/oas-examples/3.*/{json,yaml}/*.{json,yaml}').filter(
  (file) => !file.endsWith(UNSOUND),
);

test('none of the documents that others publish as examples has a finding', async () => {
  expect(files.length).toBeGreaterThan(50);
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    const document: unknown = file.endsWith('.json') ? JSON.parse(text) : parse(text);
    expect([file, await findingsOf(JSON.stringify(document))]).toEqual([file, []]);
  }
});
