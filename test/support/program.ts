/** This checkout's program, as tests start it. */
import { chmodSync, copyFileSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { scratchFolder } from './at-exit.ts';

let file: string | undefined;

/** The program as it is installed: without a look at the source each time whether it has changed. */
export function programFile(): string {
  return (file ??= installProgram());
}

function installProgram(): string {
  const { path: folder } = scratchFolder('program');
  chmodSync(folder, 0o755); // other users run it, too
  const program = path.join(folder, 'bin', 'trackport.js');
  mkdirSync(path.dirname(program));
  copyFileSync('bin/trackport.js', program);
  copyFileSync('package.json', path.join(folder, 'package.json'));
  symlinkSync(path.resolve('dist'), path.join(folder, 'dist'));
  return program;
}

/** The least that a program finds in its environment; `build.ts` says where Node keeps what it compiled, `memory-folder.ts` where folders are made. */
export function plainEnvironment(): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE = '', TMPDIR = '' } = process.env;
  return { PATH, NODE_COMPILE_CACHE, TMPDIR, NO_COLOR: '1' };
}
