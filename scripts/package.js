/** What is shipped: the build, and what stands beside it, with a `package.json` of its own. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = path.join(root, 'package');

const SHIPPED = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'assets',
  'bin',
  'config',
  'deploy/trackport.service',
  'dist',
  'docs',
  'migrations',
  'openapi.json',
];
const LEFT_OUT = new Set(['dist/meta.json', 'docs/images']);

/** Makes the folder `package` from the build. The one package that is installed beside it is native. */
export function makePackage() {
  const { version, license, engines, dependencies } = JSON.parse(
    readFileSync(path.join(root, 'package.json'), 'utf8'),
  );
  const contents = {
    name: 'trackport',
    version,
    description:
      'Issue-tracker-backed integration adapter: live leads, partner deletions, and a catalog of versioned artifacts',
    license,
    bin: { trackport: 'bin/trackport.js' },
    type: 'module',
    dependencies: { 'better-sqlite3': dependencies['better-sqlite3'] },
    engines,
  };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const name of SHIPPED) cpSync(path.join(root, name), path.join(folder, name), OPTIONS);
  writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(contents, null, 2)}\n`);
}

const OPTIONS = {
  recursive: true,
  filter: (file) => !LEFT_OUT.has(path.relative(root, file)),
};
