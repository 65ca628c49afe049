/** The file of a store: how it is made, and whether it is one to rely on. */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import path from 'node:path';
import type { Database } from 'better-sqlite3';
import { unavailable } from '#shared/database.ts';

/**
 * Makes the file, readable by its owner only, unless it is there. SQLite gives its `-wal` and `-shm`
 * files the same mode.
 * @throws {store-unavailable} when a log stands beside the place: an empty store there would take it for its own
 * and cut it off, with what was acknowledged to a store that was moved away and that a service may have open
 */
export function createPrivately(file: string): void {
  makeFolder(path.dirname(file));
  if (!existsSync(file) && existsSync(`${file}-wal`))
    throw unavailable(
      'It is not there, but its log (-wal) is: put it back. For a new store move the log away, and -shm.',
    );
  try {
    closeSync(openSync(file, 'ax', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/**
 * Makes a folder with all that are missing above it. One by one, because the recursive `mkdirSync` of Node never ends
 * where a file system says ENOENT although the folder above is there, as /proc does.
 */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(path.dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** `version` moves with what other connections commit. */
const SIZE_BY_SQLITE =
  'SELECT data_version AS version, page_count * page_size AS bytes FROM pragma_data_version, pragma_page_count, pragma_page_size';

/**
 * Refuses a commit to a file that is not where it was when it was `opened`, or whose write-ahead log and index of
 * that are not: it would be lost with the process. They stay the same files for as long as a connection is open, and
 * a commit is in the log alone at first. A file that got shorter was cut off, but by a VACUUM of another connection.
 */
export function createPlaceCheck(handle: Database, opened: Stats): () => void {
  const real = realpathSync(handle.name); // SQLite follows a link, and keeps them there
  const sidecars = [`${real}-wal`, `${real}-shm`].map((name) => ({
    name,
    id: statSync(name, { throwIfNoEntry: false }),
  }));
  const look = handle.prepare<[], { version: number; bytes: number }>(SIZE_BY_SQLITE);
  let before = { version: -1, bytes: 1 };
  return () => {
    const { version, bytes } = look.get() ?? before;
    const isVacuumed = version !== before.version && bytes < before.bytes;
    const bytesMin = isVacuumed ? 1 : before.bytes;
    const size = isFile(handle.name, opened) ? statSync(handle.name).size : 0;
    if (size < bytesMin || sidecars.some(({ name, id }) => id && !isFile(name, id)))
      throw Object.assign(new Error('not the file that was opened'), { code: 'ESTALE' });
    before = { version, bytes: Math.min(size, bytes) }; // a VACUUM is in the log alone at first
  };
}

/** True while the path leads to that file. */
function isFile(file: string, { dev, ino }: Stats): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  return found?.ino === ino && found.dev === dev;
}

/**
 * Refuses a file that is mounted by itself (`docker run -v ./store.db:/data/store.db`). SQLite's log lies
 * beside it, on another file system: it would end with the container, and what it had acknowledged with
 * it; and two containers with such a mount would each have a log of their own, and not see each other's
 * claims. `mounts` is the text of Linux's `mountinfo`.
 * @throws {store-unavailable}
 */
export function refuseMountedFile(file: string, mounts = readMounts()): void {
  const place = realpathSync(file).replaceAll(/[ \t\n\\]/g, toOctal);
  if (!mounts.split('\n').some((line) => line.split(' ', 5)[4] === place)) return;
  throw unavailable(
    'The file is mounted by itself. Mount its folder: the log of the store lies beside it.',
  );
}

/** As blanks, tabs, line breaks and backslashes stand in the list. */
function toOctal(sign: string): string {
  return `\\${sign.charCodeAt(0).toString(8).padStart(3, '0')}`;
}

/** Nothing where there is no such list: then nothing is known. */
function readMounts(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return '';
  }
}
