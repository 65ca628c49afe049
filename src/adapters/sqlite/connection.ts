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
import BetterSqlite3, { type Database } from 'better-sqlite3';
import { SECOND } from '#shared/clock.ts';
import { unavailable } from '#shared/database.ts';
import { guard } from './errors.ts';
import { createRunner, type StatementRunner } from './statements.ts';

/** Wait of a statement for another process's lock, and of the thread that it runs in. */
const BUSY_TIMEOUT_MS = 5 * SECOND;

/** One connection to one SQLite file. Everything on it happens at once, and throws what SQLite throws. */
export type Connection = StatementRunner & {
  readonly handle: BetterSqlite3.Database;
  /**
   * SQLite's own number for what other connections have committed.
   * @see https://www.sqlite.org/pragma.html#pragma_data_version
   */
  version(): number;
  /** Commits what is begun. @throws ESTALE the file is not in its place any more */
  commit: () => void;
  /** From now on a statement waits this many milliseconds for another process's lock; before, 5000. */
  waitAtMost(busyTimeoutMs: number): void;
  /**
   * Moves the write-ahead log into the database and cuts it to nothing: deleted content is in no file any more. False
   * when a reader or another process stood in the way, call it later: all writes would wait with it.
   * @see https://www.sqlite.org/pragma.html#pragma_wal_checkpoint
   */
  truncateLog(): boolean;
  /** Idempotent. */
  close(): void;
};

/**
 * Opens the file, readable by its owner only when it is new. Nothing is migrated.
 *
 * SQLite is built with STAT4 here, and plans a statement with an order, a minimum or a join anew for
 * each value that is bound in its conditions. In what hot statements compare with a parameter a plus
 * stands before it (`key = +@key`): the plan stays the same one, and is made once.
 * @see https://www.sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfigenableqpsg
 * @throws {store-unavailable}
 */
export function openConnection(path: string): Connection {
  return guard(() => {
    createPrivately(path);
    refuseMountedFile(path);
    const opened = statSync(path);
    const handle = new BetterSqlite3(path, { timeout: BUSY_TIMEOUT_MS });
    try {
      configure(handle);
      handle.pragma('schema_version'); // takes the lock that is held for as long as the connection lives
      return wrap(handle, createPlaceCheck(handle, opened));
    } catch (error) {
      handle.close();
      throw error;
    }
  });
}

function configure(handle: BetterSqlite3.Database): void {
  // A read-only file keeps the mode that it has; asking for the same mode again writes nothing.
  if (handle.pragma('journal_mode', { simple: true }) !== 'wal')
    handle.pragma('journal_mode = WAL');
  handle.pragma('synchronous = FULL'); // what was acknowledged with 202 survives a power cut
  handle.pragma('foreign_keys = ON');
  handle.pragma('secure_delete = ON'); // deleted rows are overwritten with zeros
  handle.pragma('temp_store = MEMORY'); // sorting spills no content into a temporary file
  handle.pragma('trusted_schema = OFF');
  handle.pragma('cache_size = -32768'); // KiB
  handle.pragma('wal_autocheckpoint = 4000'); // pages of 4 KiB: fewer stops under load
}

function wrap(handle: BetterSqlite3.Database, refuseMoved: () => void): Connection {
  const version = handle.prepare<[], number>('PRAGMA data_version').pluck();
  return {
    ...createRunner(handle),
    handle,
    version: () => version.get() ?? 0,
    commit: () => {
      refuseMoved();
      handle.exec('COMMIT');
    },
    waitAtMost: (busyTimeoutMs) => void handle.pragma(`busy_timeout = ${busyTimeoutMs}`),
    truncateLog: () => {
      const waitMs = handle.pragma('busy_timeout', { simple: true }) as number;
      handle.pragma('busy_timeout = 0');
      try {
        return handle.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 0;
      } finally {
        handle.pragma(`busy_timeout = ${waitMs}`);
      }
    },
    close: () => void handle.close(),
  };
}

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
function createPlaceCheck(handle: Database, opened: Stats): () => void {
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
