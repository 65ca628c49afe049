/** Tests write thousands of small commits, none of which needs a disk that it waits for. */
import { chmodSync, readFileSync, statfsSync } from 'node:fs';
import { scratchFolder } from './at-exit.ts';

const FOLDER = '/dev/shm';
const ROOM_BYTES_MIN = 4 * 1024 ** 3;

/**
 * Has files of a run go to memory where Linux has room there and programs may be run from it. `TMPDIR` names another
 * place. All of it is in one folder, which is gone after the run: also what a process did not live to remove.
 */
export default function setup(): () => void {
  if (hasRoom()) process.env['TMPDIR'] ??= FOLDER;
  const run = scratchFolder('run');
  chmodSync(run.path, 0o755); // other users run programs there, too
  process.env['TMPDIR'] = run.path;
  return () => run[Symbol.dispose]();
}

function hasRoom(): boolean {
  try {
    const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
    const options = mounts.findLast((line) => line.split(' ')[1] === FOLDER)?.split(' ')[3] ?? '';
    const { bavail, bsize } = statfsSync(FOLDER);
    return (
      options.startsWith('rw') && !/\bnoexec\b/.test(options) && bavail * bsize > ROOM_BYTES_MIN
    );
  } catch {
    return false; // no Linux
  }
}
