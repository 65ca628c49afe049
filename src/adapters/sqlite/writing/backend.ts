import type { Connection } from '../connection/connection.ts';
import type { StoredRequest } from '../connection/statements.ts';

/** A request to the connection that writes, which knows no table and no store. */
export type Request =
  | StoredRequest
  /** `hasRead`: elsewhere, what another process may have changed since the transaction before. */
  | { kind: 'begin'; hasRead: boolean }
  | { kind: 'commit' }
  | { kind: 'rollback' }
  | { kind: 'truncate-log' }
  | { kind: 'close' };

/** Asks the connection that writes. Requests are responded to in their order. */
export type Ask = (request: Request) => Promise<unknown>;

/** Owner of the connection that writes. */
export type Writer = {
  ask: Ask;
  /** Resolves when all that was asked for is responded to and the connection is closed. Idempotent. */
  close(): Promise<void>;
};

/**
 * Does on its connection what a server does, one transaction at a time, statement by statement, and refuses what comes
 * behind a failed one until that is rolled back. The function throws SQLite's own errors.
 */
export function createBackend(connection: Connection): (request: Request) => unknown {
  let isOpen = false;
  let version = connection.version();
  const begin = (hasRead: boolean): void => {
    connection.handle.exec('BEGIN IMMEDIATE');
    const before = version;
    version = connection.version();
    if (hasRead && before !== version) throw new ChangedElsewhere();
    isOpen = true;
  };
  const rollBack = (): void => {
    isOpen = false;
    if (connection.handle.inTransaction) connection.handle.exec('ROLLBACK');
  };
  const runInTransaction = (request: StoredRequest | { kind: 'commit' }): unknown => {
    if (!isOpen) throw new Error(NOT_OPEN);
    isOpen = false; // for what comes behind a failed one, and the commit
    if (request.kind === 'commit') return connection.commit();
    const response = connection.run(request);
    isOpen = true;
    return response;
  };
  return (request) => {
    if (request.kind === 'begin') return begin(request.hasRead);
    if (request.kind === 'rollback') return rollBack();
    if (request.kind === 'truncate-log') return connection.truncateLog();
    if (request.kind === 'close') return connection.close();
    return runInTransaction(request);
  };
}

export const CHANGED_ELSEWHERE = 'CHANGED_ELSEWHERE';

/** Another process has committed something since the transaction before: what was read may be old. */
export class ChangedElsewhere extends Error {
  readonly code = CHANGED_ELSEWHERE;
}

const NOT_OPEN = 'a statement failed before, or the transaction is over: nothing is committed';
