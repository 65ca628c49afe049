/** A file that a document names and that is gone sends its reader astray. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** The how-tos name files of other programs. */
const documents = globSync(['*.md', 'test/README.md', 'docs/*.md', 'docs/decisions/*.md']);

/** Folders that a path may begin in. */
const FOLDERS = ['', 'src/', 'test/', 'test/simulation/'];

/** Such as `leads/reading/walk.ts`, and folders such as `src/partners/worker`. */
const PATH = /`((?:[\w.@-]+\/)+[\w@-]+\.(?:ts|js|sql|c)|(?:src|test)(?:\/[\w.-]+)+)`/g;

const named = documents.flatMap((document) =>
  [...readFileSync(document, 'utf8').matchAll(PATH)].map(([, file = '']) => ({ document, file })),
);

test('the documents name files', () => {
  expect(named.length).toBeGreaterThan(50);
});

test('every file of ours that a document names is there', () => {
  const isThere = (file: string): boolean =>
    FOLDERS.some((folder) => existsSync(`${folder}${file}`));
  expect(named.filter(({ file }) => !isThere(file))).toEqual([]);
});

test('every helper that test/README.md names is there', () => {
  const code = globSync('test/**/*.ts').map((file) => readFileSync(file, 'utf8'));
  const readme = readFileSync('test/README.md', 'utf8');
  const [, table = ''] = readme.split('| I want ');
  const rows = [...table.matchAll(/^\|.*$/gm)].join('\n');
  const called = Array.from(readme.matchAll(/`(\w+)\(\)`/g), ([, name = '']) => name);
  const others = Array.from(rows.matchAll(/`(?:[\w.]+\()?(\w+)\)?`/g), ([, name = '']) => name);
  const stands = (pattern: string) => code.some((text) => new RegExp(pattern, 'm').test(text));
  const isDeclared = (name: string): boolean => stands(`(?:function|const) ${name}\\b`);
  const isMember = (name: string): boolean => stands(`^ +${name}[:,(]`);
  expect(called.filter((name) => !isDeclared(name))).toEqual([]);
  expect(others.length).toBeGreaterThan(10);
  expect(others.filter((name) => !isDeclared(name) && !isMember(name))).toEqual([]);
});

/** The table of tables says which of them hold personal data. `migration` is made by what applies the others. */
test('docs/storage.md names every table of both engines, and no other', () => {
  const migrations = globSync('migrations/*/[0-9]*.sql');
  const tables = migrations.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/^CREATE (?:VIRTUAL )?TABLE (\w+)/gm)].map(
      ([, name]) => name,
    ),
  );
  const rows = readFileSync('docs/storage.md', 'utf8').matchAll(/^\| (`[^|]+) \|/gm);
  const told = [...rows].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  );
  expect(new Set(told)).toEqual(new Set([...tables, 'migration']));
});
