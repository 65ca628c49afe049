import type pg from 'pg';
import { DAY } from '#shared/clock.ts';
import { createQueue } from '#shared/resilience/queue.ts';
import { createNextTurnFlight } from '#shared/resilience/single-flight.ts';
import {
  type Database,
  type Statements,
  type Tx,
  type Values,
  withoutWarning,
} from '#shared/database.ts';
import {
  advisoryLocks,
  type RowsInto,
  SERVER_IDENTITY,
  toCamelCase,
  toRecords,
} from '#shared/sql.ts';
import { guard, isConnectionLost, isRetryable } from './errors.ts';
import { createListening } from './listen.ts';
import {
  clientOf,
  openPool,
  type Pool,
  type PoolOptions,
  refuseSharedConnections,
} from './pool.ts';
import { createStatementReader, valuesOf } from './statement.ts';

/** A pool of connections to one PostgreSQL database. */
export type PostgresDatabase = Database & {
  /** @throws {store-unavailable} a pooler lets clients share connections */
  refuseSharedConnections(): Promise<void>;
};

const LOCK_EXCLUSIVELY = `SELECT pg_advisory_xact_lock(${advisoryLocks.exclusive})`;

const TRIES = 3;

/** Makes a pool; nothing is connected before the first statement. */
export function openDatabase(options: PoolOptions): PostgresDatabase {
  const pool = openPool(options);
  const read = createStatementReader();
  const run = (client: pg.PoolClient, sql: string, values: Values | undefined): Promise<Result> => {
    if (!values) return guard(() => client.query({ text: sql, ...UNHURRIED }));
    const statement = read(sql);
    const { name, text } = statement;
    const query = { name, text, values: valuesOf(statement, values), rowMode: 'array' } as const;
    return guard(() => client.query<unknown[]>(query));
  };
  const transact = <T>(work: (tx: Tx) => Promise<T>, lock?: string): Promise<T> =>
    lend(pool, (client) => inTransaction((...input) => run(client, ...input), work, lock));
  let closed: Promise<void> | undefined;
  const statements = createStatements((...input) => lend(pool, (client) => run(client, ...input)));
  // An instance has one queue of these: they would only wait for each other, and each take a connection for it.
  const takeTurn = createQueue();
  return {
    ...statements,
    transaction: (work) => withRetries(() => transact(work)),
    exclusive: (work) => takeTurn(() => withRetries(() => transact(work, LOCK_EXCLUSIVELY))),
    dataVersion: createVersionReader(statements),
    // Dropped content stays in the server's files until it cleans them up; it was encrypted.
    truncateWal: async () => true,
    listen: createListening(clientOf(options)),
    refuseSharedConnections: () => guard(() => refuseSharedConnections(pool)),
    close: () => (closed ??= pool.end()),
  };
}

type Result = pg.QueryArrayResult;

/** The driver takes several statements at once when they have no values. They may take as long as they need. */
const UNHURRIED = { query_timeout: DAY, rowMode: 'array' } as const;

/** A connection that is lost, or may be, is not used again. */
async function lend<T>(pool: Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await guard(() => pool.connect());
  try {
    const result = await work(client);
    client.release();
    return result;
  } catch (error) {
    client.release(isConnectionLost(error));
    throw error;
  }
}

type Run = (sql: string, values: Values | undefined) => Promise<Result>;

/**
 * Begins with the first statement, which is on its way before the server has answered, as is the commit behind
 * statements that nobody waits for.
 */
async function inTransaction<T>(run: Run, work: (tx: Tx) => Promise<T>, lock?: string): Promise<T> {
  let begun: Promise<unknown> | undefined;
  let isOver = false;
  /** The first one is the cause of all behind it. */
  let failure: { error: unknown } | undefined;
  const send: Run = async (...statement) => {
    try {
      return await run(...statement);
    } catch (error) {
      failure ??= { error };
      throw failure.error;
    }
  };
  const begin = (): Promise<unknown> =>
    withoutWarning(
      Promise.all(['BEGIN', ...(lock === undefined ? [] : [lock])].map((sql) => send(sql, {}))),
    );
  const tx = createStatements(async (sql, values) => {
    // It would be in nobody's transaction, or in somebody else's.
    if (isOver) throw new Error('the transaction is over');
    begun ??= begin();
    return send(sql, values);
  });
  try {
    const result = await work(tx as Tx).finally(() => {
      isOver = true;
    });
    if (begun && !(await commit(send))) throw failure?.error ?? new Error(NOT_COMMITTED);
    return result;
  } catch (error) {
    if (begun && !isConnectionLost(error)) await run('ROLLBACK', {});
    throw error;
  }
}

const NOT_COMMITTED = 'a statement failed: the transaction was not committed';

/** False: the server rolled back what a statement failed in, which it calls no failure. */
async function commit(run: Run): Promise<boolean> {
  return (await run('COMMIT', {})).command === 'COMMIT';
}

async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isRetryable(error) || tries >= TRIES) throw error;
    }
  }
}

function createStatements(run: Run): Statements {
  const all = async <Row>(sql: string, values: Values): Promise<Row[]> => {
    const { fields, rows } = await run(sql, values);
    const names = fields.map(({ name }) => toCamelCase(name));
    return rows.map((row) => toRow(names, row) as Row);
  };
  const get = async (sql: string, values: Values) => (await all<never>(sql, values))[0];
  const change = async (sql: string, values: Values) => (await run(sql, values)).rowCount ?? 0;
  const insert = async ({ all: sql }: RowsInto, rows: readonly object[]): Promise<void> => {
    if (rows.length > 0) await run(sql, { rows: toRecords(rows) });
  };
  const exec = async (sql: string): Promise<void> => void (await run(sql, undefined));
  return {
    all: (sql, values = {}) => withoutWarning(all(sql, values)),
    get: (sql, values = {}) => withoutWarning(get(sql, values)),
    run: (sql, values = {}) => withoutWarning(change(sql, values)),
    insert: (into, rows) => withoutWarning(insert(into, rows)),
    exec: (sql) => withoutWarning(exec(sql)),
  };
}

function toRow(names: readonly string[], cells: readonly unknown[]): object {
  const row: Record<string, unknown> = {};
  for (const [at, name] of names.entries()) if (cells[at] !== null) row[name] = cells[at];
  return row;
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
