import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { SECOND } from '#shared/clock.ts';
import { createQueue } from '#shared/resilience/queue.ts';
import { type Transact, type Tx, type Values, withoutWarning } from '#shared/database.ts';
import type { RowsInto } from '#shared/sql.ts';
import { systemCodeOf } from '#shared/errors.ts';
import {
  type Connection,
  type Rows,
  type StatementRunner,
  toRows,
  toStoredRows,
  toStoredValues,
} from '../connection/connection.ts';
import { translate } from '../connection/errors.ts';

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

/** Asks the connection that writes. Requests are answered in their order. */
export type Ask = (request: Request) => Promise<unknown>;

/** One in which nothing is asked for so long waits for what it must not wait for, and everybody behind it waits, too. */
const IDLE_MAX_MS = 2 * SECOND;

/** Statements on the event loop give way to others after so long. */
const LOOP_HELD_MAX_MS = 5;

/** The connection of the event loop. */
type Reading = Pick<Connection, keyof StatementRunner | 'version'>;

type Work<T> = (tx: Tx) => Promise<T>;

/** Runs transactions on the connection that writes, one after the other. @see Database.transaction */
export function createTransactions(
  ask: Ask,
  reading: Reading,
): {
  transaction: Transact;
  /** Resolves when nothing waits. */
  settled: () => Promise<void>;
} {
  const takeTurn = createQueue();
  let count = 0;
  const current = new AsyncLocalStorage<{ isOver: boolean }>();
  const attempt = async <T>(work: Work<T>, sending: Sending): Promise<T> => {
    const turn = { isOver: false };
    return runOne(sending, (tx) => current.run(turn, () => work(tx))).finally(() => {
      turn.isOver = true;
    });
  };
  return {
    transaction: async (work) => {
      if (current.getStore()?.isOver === false)
        throw new Error('a transaction in a transaction would wait for itself');
      return takeTurn(async () => {
        try {
          return await attempt(work, { ask, tx: (count += 1), reading });
        } catch (error) {
          if (systemCodeOf(error) !== CHANGED_ELSEWHERE) throw translate(error);
        }
        return attempt(work, { ask, tx: (count += 1) }).catch((error: unknown) => {
          throw translate(error);
        });
      });
    },
    settled: () => takeTurn(async () => undefined),
  };
}

/** Receivers of a transaction's statements; `reading` takes those before the first write. */
type Sending = { ask: Ask; tx: number; reading?: Reading };

/**
 * Begins with the first write, in one message with it. What is read before needs no way to the connection that
 * writes: in this process nobody writes meanwhile, and when another process has, the transaction is refused, and
 * made once more without this.
 */
async function runOne<T>({ ask, tx, reading }: Sending, work: Work<T>): Promise<T> {
  let begun: Promise<unknown> | undefined;
  let isOver = false;
  let hasRead = false;
  const sent: Promise<unknown>[] = [];
  /** The first one is the cause of all behind it. */
  let failure: { error: unknown } | undefined;
  const idle = watchIdle();
  const giveWay = createGivingWay();
  const before = reading?.version();
  const read = async (from: StatementRunner, request: StatementRequest): Promise<unknown> => {
    hasRead = true;
    await giveWay();
    return runStatement(from, request);
  };
  const write = async (request: StatementRequest): Promise<unknown> => {
    begun ??= ask({ kind: 'begin', tx, hasRead });
    const responses = Promise.all([begun, ask(request)]);
    sent.push(responses);
    return (await responses)[1];
  };
  const send = async (request: StatementRequest): Promise<unknown> => {
    if (isOver) throw new Error('the transaction is over');
    try {
      const isRead = reading && !begun && isQuery(request) && reading.isRead(request.sql);
      return await idle.during(isRead ? read(reading, request) : write(request));
    } catch (error) {
      failure ??= { error };
      throw failure.error;
    }
  };
  try {
    const result = await Promise.race([work(toTx(tx, send)), idle.tooLong]).finally(() => {
      isOver = true;
      idle.stop();
    });
    if (failure) throw failure.error;
    // In one message with statements that nobody waited for; behind one that failed it is refused.
    if (begun) {
      const committed = withoutWarning(ask({ kind: 'commit', tx }));
      await Promise.all(sent);
      await committed;
    } else if (reading?.version() !== before) throw new ChangedElsewhere();
    return result;
  } catch (error) {
    if (begun) await ask({ kind: 'rollback', tx }).catch(() => undefined);
    if (failure && systemCodeOf(failure.error) === CHANGED_ELSEWHERE) throw failure.error;
    throw error;
  }
}

function isQuery({ kind }: StatementRequest): boolean {
  return kind === 'all' || kind === 'get';
}

/** Lets other work of the event loop through where it was held for long. */
function createGivingWay(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < LOOP_HELD_MAX_MS) return;
    await endOfTurn();
    since = performance.now();
  };
}

/** `tooLong` rejects when nothing was waited for in `during` for too long. */
function watchIdle() {
  const { promise: tooLong, reject } = Promise.withResolvers<never>();
  tooLong.catch(() => undefined);
  let waiting = 0;
  const timer = setTimeout(() => {
    if (waiting === 0)
      reject(new Error(`a transaction waited ${IDLE_MAX_MS} ms for something else`));
    else timer.refresh();
  }, IDLE_MAX_MS).unref();
  return {
    tooLong,
    during: async <T>(response: Promise<T>): Promise<T> => {
      waiting += 1;
      try {
        return await response;
      } finally {
        waiting -= 1;
        timer.refresh();
      }
    },
    stop: () => clearTimeout(timer),
  };
}

/** A transaction whose statements `send` runs. */
export function toTx(tx: number, send: (request: StatementRequest) => Promise<unknown>): Tx {
  const all = async <Row>(kind: 'all' | 'get', sql: string, values: Values): Promise<Row[]> =>
    toRows<Row>((await send({ kind, tx, sql, values: toStoredValues(sql, values) })) as Rows);
  const get = async <Row>(sql: string, values: Values): Promise<Row | undefined> =>
    (await all<Row>('get', sql, values))[0];
  const run = async (sql: string, values: Values): Promise<number> =>
    (await send({ kind: 'run', tx, sql, values: toStoredValues(sql, values) })) as number;
  const insert = async (into: RowsInto, rows: readonly object[]): Promise<void> =>
    void (await send({ kind: 'insert', tx, sql: into.one, rows: toStoredRows(into, rows) }));
  const exec = async (sql: string): Promise<void> => void (await send({ kind: 'exec', tx, sql }));
  return {
    all: (sql, values = {}) => withoutWarning(all('all', sql, values)),
    get: (sql, values = {}) => withoutWarning(get(sql, values)),
    run: (sql, values = {}) => withoutWarning(run(sql, values)),
    insert: (into, rows) => withoutWarning(insert(into, rows)),
    exec: (sql) => withoutWarning(exec(sql)),
  } as Tx;
}

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
 * The other end of the requests: does on its connection what a server does, one transaction at a time, statement by
 * statement, and refuses what comes behind a failed one. The function throws SQLite's own errors.
 */
export function createBackend(connection: Connection): (request: Request) => unknown {
  let open: { tx: number; hasFailed: boolean } | undefined;
  let lastVersion: number | undefined;
  const begin = ({ tx, hasRead }: { tx: number; hasRead: boolean }): void => {
    connection.handle.exec('BEGIN IMMEDIATE');
    const before = lastVersion;
    lastVersion = connection.version();
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

const CHANGED_ELSEWHERE = 'CHANGED_ELSEWHERE';

/** Another process has committed something since the transaction before: what was read may be old. */
class ChangedElsewhere extends Error {
  readonly code = CHANGED_ELSEWHERE;
}

const NOT_OPEN = 'a statement failed before, or the transaction is over: nothing is committed';
