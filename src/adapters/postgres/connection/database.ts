import type pg from 'pg';
import { DAY } from '#shared/clock.ts';
import { createNextTurnFlight } from '#shared/resilience/single-flight.ts';
import { createGroupCommit } from '../../store/group-commit.ts';
import { type Session, type StoreDatabase, toRecords, type Values } from '../../store/session.ts';
import { guard, isConnectionLost, isLocked, isRetryable } from './errors.ts';
import { createListening } from './listen.ts';
import {
  clientOf,
  openPool,
  type Pool,
  type PoolOptions,
  refuseSharedConnections,
} from './pool.ts';
import {
  createStatementReader,
  createStatementRunner,
  type Result,
  valuesOf,
} from './statement.ts';
import { SERVER_IDENTITY } from '../../store/claim/claim-store.ts';

/** A pool of connections to one PostgreSQL database; outside `transaction` every statement is one. */
export type Database = StoreDatabase & {
  /**
   * Runs `work` in one transaction, in which every statement sees what was committed before it
   * (READ COMMITTED). Rolled back when `work` throws; run once more when another transaction stood
   * in its way. `lock` is a statement without parameters that takes a lock for all of it. The session is of no
   * use any more when `work` has ended.
   * @throws {store-unavailable} nothing was committed, or nobody can know: the connection was lost
   * while the commit was under way
   */
  transaction<T>(work: (session: Session) => Promise<T>, lock?: string): Promise<T>;
  /** @throws {store-unavailable} a pooler lets clients share connections */
  refuseSharedConnections(): Promise<void>;
  /** Waits for what is under way. Idempotent. */
  close(): Promise<void>;
};

/** Whoever writes events, claims or the lead directory: `StoreDatabase.writer.callExclusive`. */
export const LOCK_FOR_CLAIMS = 'SELECT pg_advisory_xact_lock(1953653099, 2)';

const TRIES = 3;

/** Makes a pool; nothing is connected before the first statement. */
export function openDatabase(options: PoolOptions): Database {
  const pool = openPool(options);
  const read = createStatementReader();
  const runner = createStatementRunner();
  const run = (client: pg.PoolClient, sql: string, values: Values | undefined): Promise<Result> => {
    if (!values) return guard(() => runUnhurried(client, sql));
    const statement = read(sql);
    const bound = valuesOf(statement, values);
    return guard(() => runner.run(client, statement, bound));
  };
  const transact = <T>(work: (session: Session) => Promise<T>, lock?: string): Promise<T> =>
    lend(pool, (client) => {
      const canJoinPacket = (): boolean => runner.canJoinPacket(client);
      return inTransaction({ run: (...input) => run(client, ...input), canJoinPacket }, work, lock);
    });
  const transaction: Database['transaction'] = (work, lock) =>
    withRetries(() => transact(work, lock));
  let closed: Promise<void> | undefined;
  const session = createSession((...input) => lend(pool, (client) => run(client, ...input)));
  return {
    ...session,
    transaction,
    writer: {
      call: (_name, write, input) =>
        transaction((session) => write(session, ...(input as never[]))),
      // A database has one queue of these, for two would only wait for each other.
      callExclusive: createGroupCommit({
        transaction: (work) => transaction(work, LOCK_FOR_CLAIMS),
        isLocked,
      }).call,
    },
    dataVersion: createVersionReader(session),
    // What was dropped stays in the server's files until it cleans them up; it was encrypted.
    truncateWal: async () => true,
    listen: createListening(clientOf(options)),
    refuseSharedConnections: () => guard(() => refuseSharedConnections(pool)),
    close: () => (closed ??= pool.end()),
  };
}

/** The driver takes several statements at once when they have no values. Their rows are passed over. */
async function runUnhurried(client: pg.PoolClient, text: string): Promise<Result> {
  const query: pg.QueryConfig & { query_timeout: number } = { text, query_timeout: DAY };
  await client.query(query);
  return { names: [], rows: [], rowCount: 0, tag: '' };
}

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

/** One connection; `canJoinPacket` as in `StatementRunner`. */
type BorrowedConnection = { run: Run; canJoinPacket: () => boolean };

/** Begins with the first statement, in one packet with it: most transactions are a few short statements. */
async function inTransaction<T>(
  { run, canJoinPacket }: BorrowedConnection,
  work: (session: Session) => Promise<T>,
  lock?: string,
): Promise<T> {
  let begun: Promise<unknown> | undefined;
  let isOver = false;
  const begin = (): Promise<unknown> => {
    const all = ['BEGIN', ...(lock === undefined ? [] : [lock])].map((sql) => run(sql, {}));
    const opened = Promise.all(all);
    opened.catch(() => undefined); // the statement that it begins with fails with it
    return opened;
  };
  /** What would come behind the end would be in nobody's transaction, or in somebody else's. */
  const refuseLate = (): void => {
    if (isOver) throw new Error('the transaction is over');
  };
  const runInside: Run = async (sql, values) => {
    refuseLate();
    begun ??= begin();
    if (!values || !canJoinPacket()) await begun;
    refuseLate();
    return run(sql, values);
  };
  const session = createSession(runInside);
  try {
    const result = await work(session).finally(() => {
      isOver = true;
    });
    if (begun) await commit(run);
    return result;
  } catch (error) {
    if (begun && !isConnectionLost(error)) await run('ROLLBACK', {});
    throw error;
  }
}

/** The server rolls back what a statement failed in, and calls that no failure. */
async function commit(run: Run): Promise<void> {
  const { tag } = await run('COMMIT', {});
  if (tag !== 'COMMIT') throw new Error('a statement failed: the transaction was not committed');
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
    return rows.map((row) => toRow(names, row) as Row);
  };
  return {
    all,
    get: async (sql, values) => (await all<never>(sql, values))[0],
    run: async (sql, values = {}) => (await run(sql, values)).rowCount,
    insert: async ({ all: sql }, rows) => {
      if (rows.length > 0) await run(sql, { rows: toRecords(rows) });
    },
    exec: async (sql) => void (await run(sql, undefined)),
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
export function createVersionReader(session: Pick<Session, 'get'>): () => Promise<number> {
  let seen: string | undefined;
  let version = 0;
  return createNextTurnFlight(async () => {
    const row = await session.get<{ snapshot: string }>(SNAPSHOT);
    if (row?.snapshot !== seen) version += 1;
    seen = row?.snapshot;
    return version;
  });
}
