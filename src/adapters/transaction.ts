/** Rules of a transaction, whatever the engine. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { SECOND } from '#shared/clock.ts';
import { type Transact, type Tx, withoutWarning } from '#shared/database.ts';
import { createStatements, type RunStatement, type StatementResult } from './statements.ts';

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
