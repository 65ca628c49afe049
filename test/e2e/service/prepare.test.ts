import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/folder.ts';

/** Fills the young generation of a thread whose limit is 4 MB, and tells what the thread has. */
const PROGRAM = `
import nodeModule from 'node:module';
import v8 from 'node:v8';
import { isMainThread, Worker } from 'node:worker_threads';
if (isMainThread) {
  await import(process.argv[2]);
  new Worker(new URL(import.meta.url), { resourceLimits: { maxYoungGenerationSizeMb: 4 } });
} else {
  let objects = [];
  for (let made = 0; made < 2e6; made += 1) {
    objects.push({ made });
    if (objects.length > 60_000) objects = [];
  }
  const space = v8.getHeapSpaceStatistics().find((one) => one.space_name === 'new_space');
  const cacheFolder = nodeModule.getCompileCacheDir();
  console.log(JSON.stringify({ youngMiB: space.space_size / 2 ** 20, cacheFolder }));
}
`;

type ThreadReport = { youngMiB: number; cacheFolder?: string };

/** Starts a thread as the service does, with the option of `npm start`. */
function reportOfThread(env: NodeJS.ProcessEnv = {}): ThreadReport {
  const program = path.join(temporaryFolder(), 'program.mjs');
  writeFileSync(program, PROGRAM);
  const prepare = pathToFileURL('bin/prepare.js').href;
  const { NODE_COMPILE_CACHE: _named, NODE_DISABLE_COMPILE_CACHE: _off, ...rest } = process.env;
  const printed = execFileSync(process.execPath, ['--max-semi-space-size=4', program, prepare], {
    env: { ...rest, ...env },
    encoding: 'utf8',
  });
  return JSON.parse(printed) as ThreadReport;
}

test('the limit of a thread holds beside the option of the command line', () => {
  expect(reportOfThread().youngMiB).toBeLessThanOrEqual(4);
});

test('threads share the cache of compiled code where nobody has named its folder', () => {
  const TMPDIR = temporaryFolder();
  const { cacheFolder } = reportOfThread({ TMPDIR });
  expect(cacheFolder).toContain(path.join(TMPDIR, 'node-compile-cache'));
});

test('a cache that cannot be written keeps nobody from starting', () => {
  const file = path.join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  expect(reportOfThread({ NODE_COMPILE_CACHE: file }).cacheFolder).toBeUndefined();
});

/** Strips types often enough for V8 to compile the calls from WebAssembly to JavaScript. */
const STRIPPING = `
import { stripTypeScriptTypes } from 'node:module';
if (process.argv[2]) await import(process.argv[2]);
for (let i = 0; i < 3000; i++) stripTypeScriptTypes('export const one: number = 1;');
`;

/** How many such calls V8 compiled, by its log of generated code. */
function compiledCalls(...options: string[]): number {
  const folder = temporaryFolder();
  const program = path.join(folder, 'program.mjs');
  const log = path.join(folder, 'v8.log');
  writeFileSync(program, STRIPPING);
  const logging = ['--log-code', '--no-logfile-per-isolate', `--logfile=${log}`];
  execFileSync(process.execPath, ['--no-warnings', ...logging, program, ...options]);
  return readFileSync(log, 'utf8').split(',wasm-to-js,').length - 1;
}

test('V8 compiles no call from WebAssembly, which two threads could free twice', () => {
  expect(compiledCalls()).toBeGreaterThan(0);
  expect(compiledCalls(pathToFileURL('bin/prepare.js').href)).toBe(0);
});

test('the tests themselves run without such calls', () => {
  expect(process.execArgv).toContain('--wasm-wrapper-tiering-budget=2000000000');
});

/** Node's modules that are loaded by the preparation, and by the code of a service after it. */
const LOADING = `
const loaded = () => process.moduleLoadList.filter((name) => name.startsWith('NativeModule '));
await import(process.argv[2]);
const prepared = loaded();
for (const module of process.argv.slice(3)) await import(module);
console.log(JSON.stringify({ prepared, later: loaded().slice(prepared.length) }));
`;

test("what a service needs of Node is loaded while V8 takes Node's compiled code", () => {
  const program = path.join(temporaryFolder(), 'program.mjs');
  writeFileSync(program, LOADING);
  const modules = ['bin/prepare.js', 'src/main.ts', 'src/compose/service.ts'];
  const urls = modules.map((file) => pathToFileURL(file).href);
  const env = { ...process.env, NODE_COMPILE_CACHE: temporaryFolder() };
  execFileSync(process.execPath, [program, ...urls], { env }); // fills the cache
  const printed = execFileSync(process.execPath, [program, ...urls], { env, encoding: 'utf8' });
  const { prepared, later } = JSON.parse(printed) as { prepared: string[]; later: string[] };
  expect(prepared).not.toContain('NativeModule internal/deps/undici/undici');
  expect(later.length).toBeLessThan(30); // more than 80 without
});

/** What each import of the service leads to, and which of them Node itself was asked for. */
const RESOLVING = `
import { registerHooks } from 'node:module';
const [module, prepare] = process.argv.slice(2);
const ofSrc = ({ parentURL = '' }) => parentURL.includes('/src/');
const asked = [];
registerHooks({
  resolve: (specifier, context, next) => {
    if (ofSrc(context)) asked.push(specifier);
    return next(specifier, context);
  },
});
if (prepare) await import(prepare);
const found = [];
registerHooks({
  resolve: (specifier, context, next) => {
    const { url, format } = next(specifier, context);
    if (ofSrc(context)) found.push([context.parentURL, specifier, url, format]);
    return { url, format };
  },
});
await import(module);
console.log(JSON.stringify({ asked, found }));
`;

type Resolved = { asked: string[]; found: string[][] };

test('imports of the program lead where Node finds them, without a look at the disk', () => {
  const program = path.join(temporaryFolder(), 'program.mjs');
  writeFileSync(program, RESOLVING);
  const toUrl = (file: string): string => pathToFileURL(file).href;
  const resolve = (...args: string[]): Resolved => {
    const options = { encoding: 'utf8', maxBuffer: 2 ** 26 } as const;
    return JSON.parse(execFileSync(process.execPath, [program, ...args], options)) as Resolved;
  };
  const prepared = resolve(toUrl('src/compose/service.ts'), toUrl('bin/prepare.js'));
  const plain = resolve(toUrl('src/compose/service.ts'));
  expect(prepared.found).toEqual(plain.found);
  expect(plain.asked.filter((name) => name.endsWith('.ts')).length).toBeGreaterThan(500);
  expect(prepared.asked.filter((name) => name.endsWith('.ts'))).toEqual([]);
});

test('the program runs in a folder whose name an address would escape', () => {
  const folder = path.join(temporaryFolder(), 'a#b? 50% c');
  for (const part of ['bin', 'src', 'config', 'package.json'])
    cpSync(part, path.join(folder, part), { recursive: true });
  symlinkSync(path.resolve('node_modules'), path.join(folder, 'node_modules'));
  const program = path.join(folder, 'bin/trackport.js');
  const printed = execFileSync(process.execPath, [program, '--version'], { encoding: 'utf8' });
  expect(printed).toMatch(/^\d+\.\d+\.\d+\n$/);
});
