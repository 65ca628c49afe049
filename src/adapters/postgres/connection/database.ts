import pg from 'pg';
import { DAY, SECOND } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { guard, isConnectionLost, isRetryable } from './errors.ts';
import { listen } from './listen.ts';
import type { Listening } from './listen.ts';
import { hasOwnConnections } from './pooling.ts';
import { createStatementRunner, types } from './run-statement.ts';
import type { Result } from './run-statement.ts';
import { createStatementReader, valuesOf } from './statement.ts';
import type { Values } from './statement.ts';

export type DatabaseOptions = {
  /** `postgres://user:password@host:port/database`. */
  url: string;
  /** Connections at most, default 10. */
  connectionsMax?: number;
  /** How long a call waits for one of them, with the time to make it, in ms; default 3 s. */
  connectTimeoutMs?: number;
};

/**
 * Runs statements with named parameters (`@name`); the columns of rows come in camel case. Every call
 * throws `store-unavailable` when the store fails. In a transaction, those that are asked for before any of
 * them is awaited (`Promise.all`) take one way to the server, in their order, and fail together.
 */
export type Session = {
  all<Row>(sql: string, values?: Values): Promise<Row[]>;
  /** The first row. */
  get<Row>(sql: string, values?: Values): Promise<Row | undefined>;
  /** Returns how many rows were changed. */
  run(sql: string, values?: Values): Promise<number>;
  /** Several statements without parameters, which may take as long as they need. */
  exec(sql: string): Promise<void>;
};

/** A pool of connections to one PostgreSQL database; outside `transaction` every statement is one. */
export type Database = Session & {
  /**
   * Runs `work` in one transaction, in which every statement sees what was committed before it
   * (READ COMMITTED). Rolled back when `work` throws; run once more when another transaction stood
   * in its way. `lock` is a statement without parameters that takes a lock for all of it.
   * @throws {store-unavailable} nothing was committed, or nobody can know: the connection was lost
   * while the commit was under way
   */
  transaction<T>(work: (session: Session) => Promise<T>, lock?: string): Promise<T>;
  /**
   * Calls `onNotified` after each NOTIFY on the channel, and whenever one may have been missed, on a
   * connection beside the pool. Close it before the database.
   */
  listen(channel: string, onNotified: () => void): Listening;
  /**
   * False where a pooler deals out the server's connections by transaction or statement, so that settings
   * and prepared statements come to others. True where there is no room for a second connection to tell.
   * @throws {store-unavailable}
   */
  hasOwnConnections(): Promise<boolean>;
  /** Waits for what is under way. Idempotent. */
  close(): Promise<void>;
};

const CONNECTIONS_MAX = 10;
const CONNECT_TIMEOUT_MS = 3 * SECOND;
const LOCK_TIMEOUT_MS = 3 * SECOND;
const STATEMENT_TIMEOUT_MS = 10 * SECOND;
/** Longer than the server's own: for a server that does not respond any more. */
const ANSWER_TIMEOUT_MS = 15 * SECOND;
const IDLE_MS = 30 * SECOND;
const TRIES = 3;

/**
 * What was acknowledged with 202 survives a crash of the server; what waits for replicas too stays. Nor do
 * other defaults of the server, the database or the user change what a statement means: whoever waited
 * for a lock sees what was committed meanwhile, and an array holds NULL.
 */
const CONFIGURE = `
  SELECT set_config('statement_timeout', '${STATEMENT_TIMEOUT_MS}', false),
    set_config('lock_timeout', '${LOCK_TIMEOUT_MS}', false),
    set_config('idle_in_transaction_session_timeout', '${ANSWER_TIMEOUT_MS}', false),
    set_config('default_transaction_isolation', 'read committed', false),
    set_config('array_nulls', 'on', false),
    set_config('extra_float_digits', '1', false),
    set_config('standard_conforming_strings', 'on', false),
    set_config('quote_all_identifiers', 'off', false),
    set_config('synchronous_commit',
      CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END,
      false),
    pg_is_in_recovery() AS is_standby`;

/** Makes a pool; nothing is connected before the first statement. */
export function openDatabase(options: DatabaseOptions): Database {
  const pool = createPool(options);
  const read = createStatementReader();
  const runner = createStatementRunner();
  const run = (client: pg.PoolClient, sql: string, values: Values | undefined): Promise<Result> => {
    if (!values) return guard(() => runUnhurried(client, sql));
    const statement = read(sql);
    const given = valuesOf(statement, values);
    return guard(() => runner.run(client, statement, given));
  };
  const transact = <T>(work: (session: Session) => Promise<T>, lock?: string): Promise<T> =>
    lend(pool, (client) => {
      const gathers = (): boolean => runner.gathers(client);
      return inTransaction({ run: (...input) => run(client, ...input), gathers }, work, lock);
    });
  let closed: Promise<void> | undefined;
  return {
    ...createSession((...input) => lend(pool, (client) => run(client, ...input))),
    transaction: (work, lock) => withRetries(() => transact(work, lock)),
    listen: (channel, onNotified) => listen({ client: clientOf(options), channel, onNotified }),
    hasOwnConnections: () => guard(() => hasOwnConnections(pool)),
    close: () => (closed ??= pool.end()),
  };
}

/** The driver takes several statements at once when they have no values. Their rows are passed over. */
async function runUnhurried(client: pg.PoolClient, text: string): Promise<Result> {
  const query: pg.QueryConfig & { query_timeout: number } = { text, query_timeout: DAY };
  await client.query(query);
  return { names: [], rows: [], rowCount: 0 };
}

function clientOf({
  url,
  connectTimeoutMs = CONNECT_TIMEOUT_MS,
}: DatabaseOptions): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'trackport',
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: ANSWER_TIMEOUT_MS,
    keepAlive: true,
  };
}

function createPool(options: DatabaseOptions): pg.Pool {
  const { connectionsMax = CONNECTIONS_MAX } = options;
  const pool = new pg.Pool({
    ...clientOf(options),
    max: connectionsMax,
    idleTimeoutMillis: IDLE_MS,
    types,
    onConnect: configure,
  });
  return pool.on('error', () => undefined); // an idle connection broke: the pool makes another
}

/** The pool waits for it, whatever its types say. */
const configure = (client: pg.ClientBase): unknown => {
  // Whoever uses a connection is told by the statement that fails; nobody else needs to know.
  client.on('error', () => undefined);
  return setUp(client);
};

/** A standby lags: it does not know each claim, and who read there would show a lead that is deleted. */
async function setUp(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ is_standby: boolean }>(CONFIGURE);
  if (rows[0]?.is_standby === true)
    throw new TrackportError('store-unavailable', {
      detail: 'The server is a standby: store.url has to lead to the primary alone.',
      retryAfterSeconds: 1,
    });
}

/** A connection that is lost, or may be, is not used again. */
async function lend<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
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

/** One connection; `gathers` as in `StatementRunner`. */
type Lent = { run: Run; gathers: () => boolean };

/** Begins with the first statement, in one packet with it: most transactions are a few short statements. */
async function inTransaction<T>(
  { run, gathers }: Lent,
  work: (session: Session) => Promise<T>,
  lock?: string,
): Promise<T> {
  let begun: Promise<unknown> | undefined;
  const begin = (): Promise<unknown> => {
    const all = ['BEGIN', ...(lock === undefined ? [] : [lock])].map((sql) => run(sql, {}));
    const opened = Promise.all(all);
    opened.catch(() => undefined); // the statement that it begins with fails with it
    return opened;
  };
  const runInside: Run = async (sql, values) => {
    begun ??= begin();
    if (!values || !gathers()) await begun;
    return run(sql, values);
  };
  try {
    const result = await work(createSession(runInside));
    if (begun) await run('COMMIT', {});
    return result;
  } catch (error) {
    if (begun && !isConnectionLost(error)) await run('ROLLBACK', {});
    throw error;
  }
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

function createSession(run: Run): Session {
  const all = async <Row>(sql: string, values: Values = {}): Promise<Row[]> => {
    const { names, rows } = await run(sql, values);
    return rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at]])) as Row);
  };
  return {
    all,
    get: async (sql, values) => (await all<never>(sql, values))[0],
    run: async (sql, values = {}) => (await run(sql, values)).rowCount,
    exec: async (sql) => void (await run(sql, undefined)),
  };
}
