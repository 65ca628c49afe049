import { causesOf, systemCodeOf, TrackportError } from '#shared/errors.ts';
import { BUSY, unavailable } from '#shared/database.ts';

/** Detail for callers about each kind of failure: no path, no statement, no value. */
const publicDetail: Record<string, string> = {
  SQLITE_BUSY: BUSY,
  SQLITE_LOCKED: BUSY,
  SQLITE_FULL: 'The store has no space left.',
  SQLITE_READONLY: 'The store cannot be written.',
  SQLITE_CANTOPEN: 'The store cannot be opened.',
  SQLITE_PERM: 'The store cannot be opened.',
  SQLITE_AUTH: 'The store cannot be opened.',
  SQLITE_NOTADB: 'The store is not a database of Trackport.',
  SQLITE_CORRUPT: 'The store is damaged.',
  SQLITE_IOERR: 'The store cannot be read or written.',
  SQLITE_PROTOCOL: BUSY,
  SQLITE_NOMEM: 'The store has no memory left.',
  EACCES: 'The store cannot be opened.',
  EPERM: 'The store cannot be opened.',
  EEXIST: 'The store cannot be opened.',
  ENOENT: 'The store cannot be opened.',
  ENOTDIR: 'The store cannot be opened.',
  EISDIR: 'The store cannot be opened.',
  EROFS: 'The store cannot be written.',
  ENOSPC: 'The store has no space left.',
  EDQUOT: 'The store has no space left.',
  EIO: 'The store cannot be read or written.',
  EMFILE: 'The store cannot be opened.',
  ENFILE: 'The store cannot be opened.',
};

/**
 * Runs `work` and translates what SQLite or the file system report about the store itself (busy,
 * full, read-only, damaged, gone). Constraint violations and programmer mistakes pass unchanged.
 * @throws {store-unavailable}
 */
export function guard<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw translate(error);
  }
}

/** The `TrackportError` for a failure of the store, else `error` itself. */
export function translate(error: unknown): unknown {
  const detail = publicDetail[primaryCode(error) ?? ''];
  return detail === undefined ? error : unavailable(detail, error);
}

/** True when another connection held the lock for longer than the call waited. */
export function isBusy(error: unknown): boolean {
  const reported = error instanceof TrackportError ? error.cause : error;
  return primaryCode(reported) === 'SQLITE_BUSY';
}

/**
 * True when an fsync failed: what it was to write may be on the disk or not, and the next fsync says that all is well.
 * A write that fails is another thing: SQLite takes it back.
 */
export function isDiskFailure(error: unknown): boolean {
  return [...causesOf(error)].some((cause) =>
    /^SQLITE_IOERR_(?:DIR_)?FSYNC$/.test(systemCodeOf(cause) ?? ''),
  );
}

/** `SQLITE_IOERR_WRITE` → `SQLITE_IOERR`: extended result codes start with their primary one. */
function primaryCode(error: unknown): string | undefined {
  return /^(?:SQLITE_[A-Z]+|E[A-Z]+)/.exec(systemCodeOf(error) ?? '')?.[0];
}
