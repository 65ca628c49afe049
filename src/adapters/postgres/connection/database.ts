import type pg from 'pg';
import { DAY } from '#shared/clock.ts';
import { createQueue } from '#shared/resilience/turns.ts';
import { createNextTurnFlight } from '#shared/resilience/single-flight.ts';
import { type Database, type Statements, type Values, withoutWarning } from '#shared/database.ts';
import { advisoryLocks, SERVER_IDENTITY, toCamelCase, toRecords } from '#shared/sql.ts';
import {
  createStatements,
  parametersOf,
  type StatementRequest,
  type StatementResult,
  valueOf,
} from '../../statements.ts';
import { guard, isConnectionLost, isRetryable } from './errors.ts';
import { createListening } from './listen.ts';
import {
  clientOf,
  openPool,
  type Pool,
  type PoolOptions,
  refuseSharedConnections,
} from './pool.ts';
import { createStatementReader, type Statement } from './statement.ts';
import { createTransactions, type EngineTransaction } from '../../transaction.ts';

/** A pool of connections to one PostgreSQL database. */
export type PostgresDatabase = Database & {
  /** @throws {store-unavailable} a pooler lets clients share connections */
  refuseSharedConnections(): Promise<void>;
};

type DatabaseOptions = PoolOptions & {
  /** Longest time in which a transaction may ask for nothing, in ms; default 2 s. */
  idleMaxMs?: number;
};

const LOCK_EXCLUSIVELY = `SELECT pg_advisory_xact_lock(${advisoryLocks.exclusive})`;

/** Makes a pool; nothing is connected before the first statement. */
export function openDatabase({ idleMaxMs, ...options }: DatabaseOptions): PostgresDatabase {
  const pool = openPool(options);
  const read = createStatementReader();
  const lending = <T>(work: (run: Run) => Promise<T>) => lend(pool, read, work);
  const transactions = createTransactions({ isRetryable, idleMaxMs });
  const statements = createStatements((request) =>
    lending(async (run) => toResult(await run(toRun(request)))),
  );
  let closed: Promise<void> | undefined;
  return {
    ...statements,
    transaction: transactions((make) => lending((run) => make(begin(run)))),
    // An instance has one queue of these: they would only wait for each other, and each take a connection for it.
    exclusive: transactions(
      (make) => lending((run) => make(begin(run, LOCK_EXCLUSIVELY))),
      createQueue(),
    ),
    dataVersion: createVersionReader(statements),
    // Dropped content stays in the server's files until it cleans them up; it was encrypted.
    truncateWal: async () => true,
    listen: createListening(clientOf(options)),
    refuseSharedConnections: () => guard(() => refuseSharedConnections(pool)),
    close: () => (closed ??= pool.end()),
  };
}

/** Without values it may be several statements, which may take as long as they need. */
type Request = { sql: string; values?: Values };
type Result = pg.QueryArrayResult;
type Run = (request: Request) => Promise<Result>;

const UNHURRIED = { query_timeout: DAY, rowMode: 'array' } as const;

function toQuery(sql: string, statement: Statement, values: Values) {
  const inOrder = parametersOf(sql).map((name) => valueOf(values, name));
  return { ...statement, values: inOrder, rowMode: 'array' } as const;
}

/** Gives a connection to `work`. One that is lost, or may be, is not used again. */
async function lend<T>(
  pool: Pool,
  read: (sql: string) => Statement,
  work: (run: Run) => Promise<T>,
): Promise<T> {
  const client = await guard(() => pool.connect());
  let lost: { error: unknown } | undefined;
  const run: Run = async ({ sql, values }) => {
    if (lost) throw lost.error;
    const query = values ? toQuery(sql, read(sql), values) : { text: sql, ...UNHURRIED };
    try {
      return await guard(() => client.query<unknown[]>(query));
    } catch (error) {
      if (isConnectionLost(error) || sql === ROLLBACK.sql) lost = { error };
      throw error;
    }
  };
  try {
    return await work(run);
  } finally {
    client.release(lost !== undefined);
  }
}

/** Begins with the first statement, which is on its way before the server has answered. */
function begin(run: Run, lock?: string): EngineTransaction {
  let begun: Promise<unknown> | undefined;
  return {
    run: async (request) => {
      begun ??= Promise.all(
        ['BEGIN', ...(lock === undefined ? [] : [lock])].map((sql) => run({ sql, values: {} })),
      );
      const response = withoutWarning(run(toRun(request)));
      await begun; // what fails there is the cause of what fails behind it
      return toResult(await response);
    },
    commit: async () => {
      // The server rolls back what a statement failed in, and calls that no failure.
      if (begun && (await run(COMMIT)).command !== 'COMMIT') throw new Error(NOT_COMMITTED);
    },
    rollback: async () => {
      if (begun) await run(ROLLBACK);
    },
  };
}

const COMMIT = { sql: 'COMMIT', values: {} };
const ROLLBACK = { sql: 'ROLLBACK', values: {} };
const NOT_COMMITTED = 'a statement failed: the transaction was not committed';

function toRun(request: StatementRequest): Request {
  if (request.kind === 'insert')
    return { sql: request.into.all, values: { rows: toRecords(request.rows) } };
  return request.kind === 'exec' ? { sql: request.sql } : request;
}

/** Several statements have no fields. */
function toResult({ fields = [], rows = [], rowCount }: Partial<Result>): StatementResult {
  return {
    columns: fields.map(({ name }) => toCamelCase(name)),
    cells: rows as unknown[][],
    changes: rowCount ?? 0,
  };
}

/**
 * Two snapshots that read the same of one origin see the same data.
 * @see https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SNAPSHOT
 */
const SNAPSHOT = `SELECT concat_ws(' ', pg_current_snapshot(), ${SERVER_IDENTITY}) AS snapshot`;

/**
 * A number that is another one whenever anything was committed by anybody since the last one; also
 * when something else was, in another database of the server. Calls that come while the server is
 * asked share the next question.
 */
export function createVersionReader(db: Pick<Statements, 'get'>): () => Promise<number> {
  let seen: string | undefined;
  let version = 0;
  return createNextTurnFlight(async () => {
    const row = await db.get<{ snapshot: string }>(SNAPSHOT);
    if (row?.snapshot !== seen) version += 1;
    seen = row?.snapshot;
    return version;
  });
}
