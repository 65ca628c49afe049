import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

/** Modules that a file loads: imports of types are gone when it runs. */
function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  const imports = text.matchAll(/^(?:import|export)\s+(?!type\s)[^;]*?from\s+'([^']+)';/gm);
  return [...imports]
    .filter(([statement]) => !/^\w+\s*\{(?:\s*type\s[^,}]+,?)+\s*\}/.test(statement))
    .map(([, specifier = '']) => specifier);
}

/** The file that a specifier names; undefined for a package and for what Node has. */
function fileOf(specifier: string, from: string): string | undefined {
  if (specifier.startsWith('#')) return path.join('src', specifier.slice(1));
  return specifier.startsWith('.') ? path.join(path.dirname(from), specifier) : undefined;
}

function loadedBy(entry: string): { files: Set<string>; packages: Set<string> } {
  const files = new Set([entry]);
  const packages = new Set<string>();
  for (const file of files)
    for (const specifier of importsOf(file)) {
      const next = fileOf(specifier, file);
      if (next !== undefined) files.add(next);
      else if (!specifier.startsWith('node:')) packages.add(specifier);
    }
  return { files, packages };
}

test('the writing thread knows no store and loads no package but its driver', () => {
  const { files, packages } = loadedBy('src/adapters/sqlite/writing/thread-main.ts');
  expect(
    [...files].filter((file) => !/^src\/(?:adapters\/(?:sqlite\/|statements)|shared\/)/.test(file)),
  ).toEqual([]);
  expect([...packages]).toEqual(['better-sqlite3']);
});

test('the thread that reads specs loads what writes YAML, and no other package', () => {
  const { files, packages } = loadedBy('src/adapters/threads/spec-functions.ts');
  expect(files).toContain('src/catalog/diff/diff-specs.ts');
  expect(files.size).toBeLessThan(25);
  expect([...packages]).toEqual(['yaml']);
});

test('the threads of bodies load the parser of YAML with the first YAML', () => {
  const { files, packages } = loadedBy('src/compose/body-thread.ts');
  expect(files).toContain('src/partners/read-delivery.ts');
  expect([...packages]).toEqual([]);
});

const eager = (entry: string, folders: RegExp): string[] =>
  [...loadedBy(entry).files].filter((file) => folders.test(file));

test('the program loads the code of a command when it is called', () => {
  expect(eager('src/main.ts', /^src\/(?:cli\/commands|compose|doctor|http|portal)\//)).toEqual([
    'src/compose/start-error.ts',
  ]);
});

test.each(globSync('src/cli/commands/**/*.ts'))('%s loads what it calls in its action', (file) => {
  expect(eager(file, /^src\/(?:adapters|compose|doctor|http|portal)\//)).toEqual([]);
});
