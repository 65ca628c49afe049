import { AsyncLocalStorage } from 'node:async_hooks';
import { SECOND } from '#shared/clock.ts';
import { createQueue } from '#shared/resilience/queue.ts';
import { type Transact, type Tx, type Values, withoutWarning } from '#shared/database.ts';
import type { RowsInto } from '#shared/sql.ts';
import { translate } from '../connection/errors.ts';
import { type Rows, toRows, toStoredRows, toStoredValues } from '../connection/statements.ts';
import type { Request, StatementRequest } from './serve.ts';

/** Asks the connection that writes. Requests are answered in their order. */
export type Ask = (request: Request) => Promise<unknown>;

/** One in which nothing is asked for so long waits for what it must not wait for, and everybody behind it waits, too. */
const IDLE_MAX_MS = 2 * SECOND;

type Turn = { isOver: boolean };

/** Runs transactions on the connection that writes, one after the other. @see Database.transaction */
export function createTransactions(ask: Ask): {
  transaction: Transact;
  /** Resolves when nothing waits. */
  settled: () => Promise<void>;
} {
  const takeTurn = createQueue();
  let count = 0;
  const current = new AsyncLocalStorage<Turn>();
  return {
    transaction: async (work) => {
      if (current.getStore()?.isOver === false)
        throw new Error('a transaction in a transaction would wait for itself');
      const turn = { isOver: false };
      const inTurn = (tx: Tx): ReturnType<typeof work> => current.run(turn, () => work(tx));
      return takeTurn(() => runOne(ask, { tx: (count += 1), turn }, inTurn));
    },
    settled: () => takeTurn(async () => undefined),
  };
}

/** Begins with the first statement, in one message with it. */
async function runOne<T>(
  ask: Ask,
  { tx, turn }: { tx: number; turn: Turn },
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  let begun: Promise<unknown> | undefined;
  const sent: Promise<unknown>[] = [];
  /** The first one is the cause of all behind it. */
  let failure: { error: unknown } | undefined;
  const idle = watchIdle();
  const send = async (request: StatementRequest): Promise<unknown> => {
    if (turn.isOver) throw new Error('the transaction is over');
    begun ??= ask({ kind: 'begin', tx });
    const responses = Promise.all([begun, ask(request)]);
    sent.push(responses);
    try {
      return (await idle.during(responses))[1];
    } catch (error) {
      failure ??= { error };
      throw failure.error;
    }
  };
  try {
    const result = await Promise.race([work(toTx(tx, send)), idle.tooLong]).finally(() => {
      turn.isOver = true;
      idle.stop();
    });
    // In one message with statements that nobody waited for; behind one that failed it is refused.
    if (begun) {
      const committed = withoutWarning(ask({ kind: 'commit', tx }));
      await Promise.all(sent);
      await committed;
    }
    return result;
  } catch (error) {
    if (begun) await ask({ kind: 'rollback', tx }).catch(() => undefined);
    throw translate(error);
  }
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

/** The session of a transaction whose statements `send` runs. */
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
  };
}
