/** Statements of a store, alone and in transactions, as both engines have them: requests, and rows of cells. */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Statements,
  type Transact,
  type Tx,
  type Values,
  withoutWarning,
} from '#shared/database.ts';
import { PARAMETER, type RowsInto } from '#shared/sql.ts';
import { SECOND } from '#shared/clock.ts';

/** A statement with values by name, or rows for a table. */
export type StatementRequest =
  | { kind: 'all' | 'get' | 'run'; sql: string; values: Values }
  | { kind: 'exec'; sql: string }
  | { kind: 'insert'; into: RowsInto; rows: readonly object[] };

/** Cells of each row in the order of `columns`, whose names are in camel case, and how many rows were changed. */
export type StatementResult = {
  columns: readonly string[];
  cells: readonly (readonly unknown[])[];
  changes: number;
};

export type RunStatement = (request: StatementRequest) => Promise<StatementResult>;

/** Statements of whoever runs their requests. */
export function createStatements(run: RunStatement): Statements {
  const ask = <T>(request: StatementRequest, read: (result: StatementResult) => T): Promise<T> =>
    withoutWarning(run(request).then(read));
  return {
    all: <Row>(sql: string, values: Values = {}) => ask({ kind: 'all', sql, values }, toRows<Row>),
    get: <Row>(sql: string, values: Values = {}) =>
      ask({ kind: 'get', sql, values }, (result) => toRows<Row>(result)[0]),
    run: (sql, values = {}) => ask({ kind: 'run', sql, values }, ({ changes }) => changes),
    insert: (into, rows) => ask({ kind: 'insert', into, rows }, () => undefined),
    exec: (sql) => ask({ kind: 'exec', sql }, () => undefined),
  };
}

/** Statements that are kept prepared at most, for each connection: those with filters are many. */
export const PREPARED_MAX = 300;

/** Makes of a statement once what is needed at each run of it. */
export function keepPrepared<T>(make: (sql: string) => T): (sql: string) => T {
  const known = new Map<string, T>();
  return (sql) => {
    const before = known.get(sql);
    if (before !== undefined) return before;
    const made = make(sql);
    if (known.size < PREPARED_MAX) known.set(sql, made);
    return made;
  };
}

/** Names of the values that a statement takes, by their first places in it. */
export const parametersOf = keepPrepared((sql): readonly string[] => [
  ...new Set(Array.from(sql.matchAll(PARAMETER), ([, name]) => name as string)),
]);

/** The value of a parameter. PostgreSQL's text has no NUL: it becomes U+FFFD in what is written and looked for, on both. */
export function valueOf(values: Values, name: string): unknown {
  if (!(name in values)) throw new Error(`no value for @${name}`);
  return withoutNul(values[name] ?? null);
}

export function withoutNul(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNul);
  return typeof value === 'string' && value.includes('\0')
    ? value.replaceAll('\0', '\uFFFD')
    : value;
}

/** A row lacks what is NULL. */
function toRows<Row>({ columns, cells }: StatementResult): Row[] {
  return cells.map((values) => {
    const row: Record<string, unknown> = {};
    for (let at = 0; at < values.length; at += 1)
      if (values[at] !== null) row[columns[at] as string] = toBuffer(values[at]);
    return row as Row;
  });
}

/** Bytes that came from another thread are no `Buffer` any more. */
function toBuffer(cell: unknown): unknown {
  if (!(cell instanceof Uint8Array) || Buffer.isBuffer(cell)) return cell;
  return Buffer.from(cell.buffer, cell.byteOffset, cell.byteLength);
}

/** A transaction as its engine has it: it begins with the first request that needs it to. */
export type EngineTransaction = {
  /** Requests that come in one go take one way, and are responded to in their order. */
  run: RunStatement;
  /** Takes the way of the requests before it. Rejects when nothing is committed, or nobody can know. */
  commit(): Promise<void>;
  rollback(): Promise<void>;
};

type Engine = {
  /** True when another transaction stood in its way: the same work may succeed at once. */
  isRetryable: (error: unknown) => boolean;
  /** One in which nothing is asked for so long waits for what it must not wait for; ms, default 2 s. */
  idleMaxMs?: number | undefined;
};

/** Has `run` make a transaction on what it needs; `tries` counts from 1. */
type Attempt = <T>(run: (own: EngineTransaction) => Promise<T>, tries: number) => Promise<T>;

/** Lets one go on after the other. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

const TRIES = 3;

/** Transactions of one store, which are not made in each other. @see Database.transaction */
export function createTransactions(
  engine: Engine,
): (attempt: Attempt, inTurn?: InTurn) => Transact {
  const { isRetryable } = engine;
  const current = new AsyncLocalStorage<{ isOver: boolean }>();
  return (attempt, inTurn = (work) => work()) => {
    const transact: Transact = async (work) => {
      for (let tries = 1; ; tries += 1)
        try {
          return await attempt((own) => runTransaction(engine, own, work), tries);
        } catch (error) {
          if (!isRetryable(error) || tries >= TRIES) throw error;
        }
    };
    return async (work) => {
      if (current.getStore()?.isOver === false)
        throw new Error('a transaction in a transaction would wait for itself');
      const state = { isOver: false };
      const within = async (tx: Tx) => current.run(state, () => work(tx));
      return inTurn(() => transact(within)).finally(() => {
        state.isOver = true;
      });
    };
  };
}

async function runTransaction<T>(
  { isRetryable, idleMaxMs = 2 * SECOND }: Engine,
  own: EngineTransaction,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const idle = watchIdle(idleMaxMs);
  const pending = new Set<Promise<StatementResult>>();
  let isOver = false;
  /** The first one is the cause of all behind it. */
  let failure: { error: unknown } | undefined;
  const tx = createStatements(async (request) => {
    if (isOver) throw new Error('the transaction is over');
    const response = idle.during(own.run(request));
    pending.add(response);
    try {
      return await response;
    } catch (error) {
      failure ??= { error };
      throw failure.error;
    } finally {
      pending.delete(response);
    }
  });
  try {
    const result = await Promise.race([work(tx as Tx), idle.tooLong]).finally(() => {
      isOver = true;
      idle.stop();
    });
    if (failure) throw failure.error;
    const committed = withoutWarning(own.commit());
    await Promise.all(pending); // what nobody waited for
    await committed;
    return result;
  } catch (error) {
    await own.rollback().catch(() => undefined); // then its connection is of no use any more
    throw failure && isRetryable(failure.error) ? failure.error : error;
  }
}

/** `tooLong` rejects when nothing was waited for in `during` for too long. */
function watchIdle(maxMs: number) {
  const { promise: tooLong, reject } = Promise.withResolvers<never>();
  void withoutWarning(tooLong);
  let waiting = 0;
  const timer = setTimeout(() => {
    if (waiting === 0) reject(new Error(`a transaction waited ${maxMs} ms for something else`));
    else timer.refresh();
  }, maxMs).unref();
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
