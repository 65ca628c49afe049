import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

type PackageFile = {
  private: boolean;
  name: string;
  files: string[];
  bin?: unknown;
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};
/** A new one is a decision: raise the number with the reason in the commit. */
const RUNTIME_DEPENDENCIES = 34;

type LockFile = { packages: Record<string, { integrity?: string; resolved?: string }> };

const read = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
const packageFile = read('package.json') as PackageFile;

/** Whose files the build copies. */
const readAtRunTime = [
  '@asyncapi/specs',
  '@fastify/swagger-ui',
  '@seriousme/openapi-schema-validator',
];

test('what the program runs on are its dependencies, and nothing else', () => {
  const wanted = [...importedPackages(), ...readAtRunTime].toSorted();
  expect(Object.keys(packageFile.dependencies)).toEqual(wanted);
});

test('a package of the checkout has no file, no command and another name than the program', () => {
  const { name, files, bin } = packageFile;
  expect([packageFile.private, name, files, bin]).toEqual([
    true,
    'trackport-checkout',
    [],
    undefined,
  ]);
});

test('every version is exact', () => {
  const versions = { ...packageFile.dependencies, ...packageFile.devDependencies };
  for (const [name, version] of Object.entries(versions))
    expect(`${name}@${version}`).toMatch(/^\S+@\d+\.\d+\.\d+(?:-[\w.]+)?$/);
});

test('the lock file has an integrity for every package and no download address', () => {
  const { packages } = read('package-lock.json') as LockFile;
  const entries = Object.entries(packages).filter(
    ([name]) => name.startsWith('node_modules/') && !name.includes('@trackport/'),
  );
  expect(entries.length).toBeGreaterThan(100);
  expect(entries.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  expect(entries.filter(([, { integrity }]) => integrity === undefined)).toEqual([]);
});

test('no script relies on pre and post hooks, which ignore-scripts switches off', () => {
  const names = Object.keys(packageFile.scripts);
  const hooks = names.filter((name) => /^(?:pre|post)/.test(name) || name === 'prepare');
  expect(hooks).toEqual([]);
});

test('every way of starting is one plain command', () => {
  const { start, trackport } = packageFile.scripts;
  expect([start, trackport]).toEqual([
    'exec node bin/trackport.js serve',
    'exec node bin/trackport.js',
  ]);
  for (const file of ['bin/trackport.js', 'Dockerfile', 'deploy/trackport.service', 'README.md'])
    expect
      .soft(readFileSync(file, 'utf8'))
      .not.toMatch(/MALLOC_|NODE_OPTIONS|node --|COMPILE_CACHE/);
});

/** The packages that `src` and `sandbox` import, but for types. */
function importedPackages(): Set<string> {
  const texts = globSync(['src/**/*.ts', 'sandbox/**/*.ts']).map((file) =>
    readFileSync(file, 'utf8'),
  );
  const specifiers = texts.flatMap((text) =>
    [...text.matchAll(/(?:^import (?!type )[^;]*?from |import\()'([^.#][^']*)'/gm)].map(
      ([, name = '']) => name,
    ),
  );
  const packages = specifiers.filter((name) => !/^(?:node:|@trackport\/)/.test(name));
  return new Set(packages.map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name));
}

test('each package of the program stands in the table with its reason, and no other', () => {
  const table = readFileSync('docs/packages.md', 'utf8');
  const listed = [...table.matchAll(/^\| `([^`]+)` \| \S/gm)].map(([, name = '']) => name);
  expect(listed).toEqual([...importedPackages(), ...readAtRunTime].toSorted());
  expect(listed).toHaveLength(RUNTIME_DEPENDENCIES);
});
