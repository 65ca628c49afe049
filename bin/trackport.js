#!/usr/bin/env node
// Plain JavaScript on purpose: every Node can read it, and be told that it is too old.
import { existsSync } from 'node:fs';

const NODE_MAJOR_MIN = 24;
const builder = new URL('../scripts/build.js', import.meta.url);
const isCheckout = existsSync(builder);

if (Number(process.versions.node.split('.')[0]) < NODE_MAJOR_MIN) {
  const remedy = isCheckout
    ? '`npm ci` brings its own on Linux x64: use `npm start`, or `npm run -s trackport -- COMMAND`.'
    : 'Install it.';
  console.error(
    `Trackport needs Node ${NODE_MAJOR_MIN} or newer; this is ${process.version}. ${remedy}`,
  );
  process.exit(1);
}
// Into `dist`, unless it is of this very source.
if (isCheckout) await (await import(builder.href)).buildIfChanged();
process.setSourceMapsEnabled(true);
const { run } = await import('../dist/main.js');
await run(process.argv.slice(2));
