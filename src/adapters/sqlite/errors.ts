import { causesOf, systemCodeOf, TrackportError } from '#shared/errors.ts';
import { BUSY, unavailable } from '#shared/database.ts';

/** Codes of each kind of failure, by the detail for callers: no path, no statement, no value. */
const codesByDetail: Record<string, string> = {
  [BUSY]: 'SQLITE_BUSY SQLITE_LOCKED SQLITE_PROTOCOL',
  'The store was moved, removed, replaced or cut off while it was open.': 'ESTALE',
  'The store has no space left.': 'SQLITE_FULL ENOSPC EDQUOT',
  'The store has no memory left.': 'SQLITE_NOMEM',
  'The store cannot be written.': 'SQLITE_READONLY EROFS',
  'The store cannot be read or written.': 'SQLITE_IOERR EIO',
  'The store is damaged.': 'SQLITE_CORRUPT',
  'The store is not a database of Trackport.': 'SQLITE_NOTADB',
  'The store cannot be opened.':
    'SQLITE_CANTOPEN SQLITE_PERM SQLITE_AUTH EACCES EPERM EEXIST ENOENT ENOTDIR ELOOP EISDIR EMFILE ENFILE',
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
  const code = primaryCode(error) ?? '';
  const known = Object.entries(codesByDetail).find(([, codes]) => codes.split(' ').includes(code));
  return known ? unavailable(known[0], error) : error;
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
