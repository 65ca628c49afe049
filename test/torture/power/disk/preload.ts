import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('fsync.c', import.meta.url));

/** The library to preload that stands between a process and its disk (`fsync.c`). Undefined where there is no C compiler, or no Linux. */
export function compileFsync(folder: string): string | undefined {
  if (process.platform !== 'linux') return undefined;
  const library = path.join(folder, 'fsync.so');
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl']);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  return library;
}
