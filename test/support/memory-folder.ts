/** Tests write thousands of small commits, none of which needs a disk that it waits for. */
import { readFileSync, statfsSync } from 'node:fs';

const FOLDER = '/dev/shm';
const ROOM_BYTES_MIN = 4 * 1024 ** 3;

/** What a run writes goes to memory where Linux has room there and programs may be run from it. `TMPDIR` names another place. */
export default function setup(): void {
  if (hasRoom()) process.env['TMPDIR'] ??= FOLDER;
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
