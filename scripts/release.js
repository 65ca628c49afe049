/** `npm run release`: makes in `release` what a version is published with, and sends nothing anywhere. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (file) => readFileSync(path.join(root, file), 'utf8');
const run = (program, ...args) =>
  execFileSync(program, args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
const { version } = JSON.parse(read('package.json'));

/** What keeps this tree from being a release, each with its remedy. */
export function obstacles() {
  const [, newest] = /^## (\S+)/m.exec(read('CHANGELOG.md')) ?? [];
  return [
    run('git', 'status', '--porcelain') !== '' && 'The tree has changes: commit them.',
    newest !== version && `CHANGELOG.md begins with ${newest}: cut a section ${version}.`,
    JSON.parse(read('openapi.json')).info.version !== version && 'Run npm run openapi.',
    JSON.parse(read('client/package.json')).version !== version &&
      `client/package.json has another version: raise it to ${version}.`,
    run('git', 'tag', '--list', `v${version}`) !== '' && `v${version} is there: raise the version.`,
  ].filter(Boolean);
}

function release() {
  const found = obstacles();
  if (found.length > 0) throw new Error(found.join('\n'));
  process.stderr.write('Checking the tree, about a minute…\n');
  run('npm', 'run', '-s', 'check');
  process.stderr.write('Building and packing…\n');
  run('npm', 'run', '-s', 'build');
  rmSync(path.join(root, 'release'), { recursive: true, force: true });
  mkdirSync(path.join(root, 'release'));
  const files = ['package', 'client'].map(pack);
  const sbom = `trackport-${version}.cdx.json`;
  copyFileSync(path.join(root, 'dist/sbom.cdx.json'), path.join(root, 'release', sbom));
  const sums = [...files, sbom].map((file) => `${sha256(`release/${file}`)}  ${file}\n`);
  writeFileSync(path.join(root, 'release/SHA256SUMS'), sums.join(''));
  process.stdout.write(`${sums.join('')}
To publish: git tag v${version}, and put the files of release/ where people find them,
with the section ${version} of CHANGELOG.md. Nothing was sent.
`);
}

/** The name of its file. `npm run check` has built the client. */
function pack(folder) {
  const options = ['--json', '--pack-destination', 'release'];
  return JSON.parse(run('npm', 'pack', `./${folder}`, ...options))[0].filename;
}

const sha256 = (file) =>
  createHash('sha256')
    .update(readFileSync(path.join(root, file)))
    .digest('hex');

if (import.meta.main)
  try {
    release();
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
