import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

type PackageFile = {
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};
const RUNTIME_DEPENDENCIES = 31;

type LockFile = { packages: Record<string, { integrity?: string; resolved?: string }> };

const read = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
const packageFile = read('package.json') as PackageFile;

test('a new runtime dependency is a decision: raise the number with the reason in the commit', () => {
  expect(Object.keys(packageFile.dependencies)).toHaveLength(RUNTIME_DEPENDENCIES);
});

test('every version is exact', () => {
  const versions = { ...packageFile.dependencies, ...packageFile.devDependencies };
  for (const [name, version] of Object.entries(versions))
    expect(`${name}@${version}`).toMatch(/^\S+@\d+\.\d+\.\d+(?:-[\w.]+)?$/);
});

test('the lock file has an integrity for every package and no download address', () => {
  const { packages } = read('package-lock.json') as LockFile;
  const entries = Object.entries(packages).filter(([name]) => name !== '');
  expect(entries.length).toBeGreaterThan(100);
  expect(entries.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  expect(entries.filter(([, { integrity }]) => integrity === undefined)).toEqual([]);
});

test('no script relies on pre and post hooks, which ignore-scripts switches off', () => {
  const names = Object.keys(packageFile.scripts);
  const hooks = names.filter((name) => /^(?:pre|post)/.test(name) || name === 'prepare');
  expect(hooks).toEqual([]);
});

test('every way of starting keeps memory low', () => {
  const lean = '--max-semi-space-size=4';
  const ways = [packageFile.scripts['start'], packageFile.scripts['trackport']];
  const variables = [
    'MALLOC_ARENA_MAX=2',
    'MALLOC_TRIM_THRESHOLD_=131072',
    'MALLOC_MMAP_THRESHOLD_=32768',
  ];
  for (const way of ways)
    expect(way).toContain(`exec env ${variables.join(' ')} node ${lean} bin/`);
  const files = ['bin/trackport.js', 'Dockerfile', 'deploy/trackport.service', 'README.md'];
  for (const file of files) expect(readFileSync(file, 'utf8')).toContain(lean);
  for (const file of ['Dockerfile', 'deploy/trackport.service', 'README.md'])
    for (const variable of variables) expect(readFileSync(file, 'utf8')).toContain(variable);
  expect(readFileSync('bin/trackport.js', 'utf8').split('\n')[0]).toContain(lean);
});

test('nothing under src imports a development dependency', () => {
  const packages = Object.keys(packageFile.devDependencies).filter(
    (name) => !(name in packageFile.dependencies),
  );
  const named = globSync('src/**/*.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*'([^'.#][^']*)'/g)].map(
      ([, specifier = '']) => ({ file, specifier }),
    ),
  );
  expect(named.length).toBeGreaterThan(100);
  const isIn = (specifier: string, name: string): boolean =>
    specifier === name || specifier.startsWith(`${name}/`);
  expect(named.filter(({ specifier }) => packages.some((name) => isIn(specifier, name)))).toEqual(
    [],
  );
});
