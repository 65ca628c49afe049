/** The build in `dist`: what `bin/trackport.js` runs, and makes where it is missing or old. */
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { createWorld, serve } from '../support/world.ts';

const programs = [
  'bin',
  'client/src',
  'src',
  'sandbox',
  'scripts',
  'config',
  'package.json',
  'package-lock.json',
];

/** A checkout of its own, with nothing built, in a folder whose name an address would escape. */
function checkout(): { folder: string; run: (...args: string[]) => string } {
  const folder = path.join(temporaryFolder(), 'a#b? 50% c');
  for (const part of programs) cpSync(part, path.join(folder, part), { recursive: true });
  symlinkSync(path.resolve('node_modules'), path.join(folder, 'node_modules'));
  const program = path.join(folder, 'bin/trackport.js');
  const run = (...args: string[]): string =>
    execFileSync(process.execPath, [program, ...args], { encoding: 'utf8' });
  return { folder, run };
}

test('a checkout builds what it runs, and builds it again once the source has changed', () => {
  const { folder, run } = checkout();
  expect(run('--version')).toMatch(/^\d+\.\d+\.\d+ \(unknown\)\n$/);

  const file = path.join(folder, 'src/shared/program.ts');
  const source = readFileSync(file, 'utf8');
  writeFileSync(file, source.replace('`${VERSION} (${COMMIT})`', "'changed'"));
  expect(run('--version')).toBe('changed\n');
});

test('an old Node is told which one is needed', () => {
  const old = path.join(temporaryFolder(), 'old.mjs');
  writeFileSync(old, "Object.defineProperty(process.versions, 'node', { value: '22.1.0' });");
  const { exitCode, stderr } = failing(['--import', old, 'bin/trackport.js', 'serve']);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/^Trackport needs Node 24 or newer; .*npm start.*\n$/);
});

test('a stack names lines of the source', () => {
  const preload = path.join(temporaryFolder(), 'bug.mjs');
  writeFileSync(preload, "process.stdout.write = () => { throw new TypeError('a bug'); };");
  const { stderr } = failing(['--import', preload, 'bin/trackport.js', '--version']);
  const [, line] = /\/src\/main\.ts:(\d+):\d+\)/.exec(stderr) ?? [];
  expect(readFileSync('src/main.ts', 'utf8').split('\n')[Number(line) - 1]).toContain('.write(');
});

/** Says of each thread that it has looked at it, and whether it loaded the compiler that strips types. */
const WATCH = `
import { isMainThread } from 'node:worker_threads';
const strips = () => process.moduleLoadList.some((name) => name.includes('internal/deps/amaro'));
const say = () => process.stderr.write((strips() ? 'strips types' : 'plain') + (isMainThread ? '' : ' thread') + '\\n');
setTimeout(say, 100).unref();
`;

test('no thread of a running service strips types', async () => {
  const preload = path.join(temporaryFolder(), 'watch.mjs');
  writeFileSync(preload, WATCH);
  const { config } = await createWorld();
  const { run, url } = await serve(config, { preload: pathToFileURL(preload) });
  await fetch(`${url}/openapi.json`);
  await eventually(() => expect(run.stderr()).toContain('plain thread'));
  expect(run.stderr()).toMatch(/^plain$/m);
  expect(run.stderr()).not.toContain('strips types');
});

function failing(args: readonly string[]): { exitCode: number; stderr: string } {
  try {
    execFileSync(process.execPath, args, { encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    const { status, stderr } = error as { status: number; stderr: string };
    return { exitCode: status, stderr };
  }
  throw new Error('it ended well');
}
