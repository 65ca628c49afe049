import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ENTRIES } from '../../scripts/build.js';
import { temporaryFolder } from '../support/folder.ts';

/** A checkout that is built quickly: its program does nothing. */
function smallCheckout(): string {
  const folder = temporaryFolder();
  cpSync('scripts/build.js', path.join(folder, 'scripts/build.js'));
  cpSync('package.json', path.join(folder, 'package.json'));
  symlinkSync(path.resolve('node_modules'), path.join(folder, 'node_modules'));
  for (const entry of ENTRIES) {
    mkdirSync(path.dirname(path.join(folder, 'src', entry)), { recursive: true });
    writeFileSync(path.join(folder, 'src', `${entry}.ts`), 'export {};');
  }
  return folder;
}

test('of several first starts in a checkout one builds, and all run from that', async () => {
  const folder = smallCheckout();
  const start = `
    import { statSync } from 'node:fs';
    const { buildIfChanged } = await import('./scripts/build.js');
    await buildIfChanged();
    console.log(statSync('dist').ino);`;
  const started = await Promise.all(
    [1, 2, 3].map(() => promisify(execFile)(process.execPath, ['-e', start], { cwd: folder })),
  );
  const seen = started.map(({ stdout }) => Number(stdout));
  expect(seen).toEqual(seen.map(() => statSync(path.join(folder, 'dist')).ino));
});
