/** Has tests run the build of this source: the whole program's, and the client's. */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, statSync } from 'node:fs';
import { buildIfChanged } from '../../scripts/build.js';
import { scratchFolder } from './at-exit.ts';

const CLIENT = 'client/dist/index.js';
const MADE_OF = ['client/src/*.ts', 'client/*.json', 'openapi.json'];

export default async function build(): Promise<() => void> {
  await buildIfChanged();
  const isNewer = (file: string): boolean => statSync(file).mtimeMs > statSync(CLIENT).mtimeMs;
  if (!existsSync(CLIENT) || globSync(MADE_OF).some(isNewer))
    execFileSync('npm', ['run', '-s', 'client'], { stdio: ['ignore', 'ignore', 'inherit'] });
  // Whatever is started by tests finds what Node compiled before.
  const compiled = scratchFolder('compiled');
  process.env['NODE_COMPILE_CACHE'] = compiled.path;
  return () => compiled[Symbol.dispose]();
}
