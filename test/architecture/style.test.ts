/** Rules of the house that no rule of oxlint can hold. The budgets of functions and files are in `oxlint.config.ts`. */
import { globSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const FILES_MAX = 15;
const files = globSync('{src,sandbox}/**/*.ts');

test('no folder has more files than a reader takes in at a glance', () => {
  const folders = Map.groupBy(files, (file) => path.dirname(file));
  const crowded = [...folders].filter(([, own]) => own.length > FILES_MAX);
  expect(crowded.map(([folder, own]) => `${folder}: ${own.length}`)).toEqual([]);
});
