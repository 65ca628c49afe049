import type { Values } from '#shared/database.ts';
import type { Connection } from '../connection/connection.ts';
import type { StatementRunner } from '../connection/statements.ts';

/** A request to the connection that writes, which knows no table and no store. */
export type Request =
  /** `hasRead`: elsewhere, what another process may have changed since the transaction before. */
  | { kind: 'begin'; tx: number; hasRead: boolean }
  | { kind: 'commit' | 'rollback'; tx: number }
  | { kind: 'all' | 'get' | 'run'; tx: number; sql: string; values: Values }
  | { kind: 'insert'; tx: number; sql: string; rows: readonly (readonly unknown[])[] }
  | { kind: 'exec'; tx: number; sql: string }
  | { kind: 'truncate-log' | 'close' };

export type StatementRequest = Extract<Request, { sql: string }>;

export function runStatement(statements: StatementRunner, request: StatementRequest): unknown {
  switch (request.kind) {
    case 'insert':
      return statements.insert(request.sql, request.rows);
    case 'exec':
      return statements.exec(request.sql);
    case 'all':
    case 'get':
    case 'run':
      return statements[request.kind](request.sql, request.values);
  }
}

/**
 * Serves a connection as a server does: one transaction at a time, statement by statement, and what comes behind a
 * failed one is refused. The function throws SQLite's own errors.
 */
export function createServer(connection: Connection): (request: Request) => unknown {
  let open: { tx: number; hasFailed: boolean } | undefined;
  const version = connection.handle.prepare<[], number>('PRAGMA data_version').pluck();
  let lastVersion: number | undefined;
  const begin = ({ tx, hasRead }: { tx: number; hasRead: boolean }): void => {
    connection.handle.exec('BEGIN IMMEDIATE');
    const before = lastVersion;
    lastVersion = version.get();
    open = { tx, hasFailed: hasRead && before !== lastVersion };
    if (open.hasFailed) throw new ChangedElsewhere();
  };
  const rollBack = (): void => {
    if (connection.handle.inTransaction) connection.handle.exec('ROLLBACK');
    open = undefined;
  };
  const commit = (): void => {
    connection.commit();
    open = undefined;
  };
  return (request) => {
    if (!('tx' in request))
      return request.kind === 'close' ? connection.close() : connection.checkpoint('TRUNCATE');
    if (request.kind === 'begin') return begin(request);
    if (request.kind === 'rollback') return open?.tx === request.tx ? rollBack() : undefined;
    if (open?.tx !== request.tx || open.hasFailed) throw new Error(NOT_OPEN);
    try {
      return 'sql' in request ? runStatement(connection, request) : commit();
    } catch (error) {
      open.hasFailed = true;
      throw error;
    }
  };
}

export const CHANGED_ELSEWHERE = 'CHANGED_ELSEWHERE';

/** Another process has committed something since the transaction before: what was read may be old. */
export class ChangedElsewhere extends Error {
  readonly code = CHANGED_ELSEWHERE;
}

const NOT_OPEN = 'a statement failed before, or the transaction is over: nothing is committed';
