import { openConnection } from '#adapters/sqlite/connection.ts';
import { createDatabase } from '#adapters/sqlite/database.ts';
import { createBackend, type Request } from '#adapters/sqlite/writing/writer.ts';
import type { Database, Statements, Tx } from '#shared/database.ts';
import type { Owner, Scheduler } from './scheduler.ts';

/** Faults of the thread that writes. */
type EngineFaults = {
  /** Ms until it takes, or its response arrives. */
  delayMs(): number;
  /** Fate of a commit. `lost`: it is done, and its response is not. */
  onCommit(): 'done' | 'full' | 'lost';
};

export type EngineWorld = {
  scheduler: Scheduler;
  faults: EngineFaults;
  /** Called when the instance has committed something. */
  onCommit: (owner: Owner) => void;
};

/** An instance's way to the store: the engine of production, whose thread does its work when the scheduler says so. */
export type Engine = {
  database: Database;
  /** The process is gone: what was not committed is, too. */
  cut(): void;
};

const BUSY_POLL_MS = 5;
const LOCK_WAIT_MS = 1000;
/** A correlation id that the store refuses. */
export const POISONED = 'poisoned';

export function openEngine(path: string, owner: Owner, deps: EngineWorld): Engine {
  const reading = openConnection(path);
  const writing = openConnection(path);
  writing.waitAtMost(0);
  writing.handle.pragma('synchronous = OFF'); // the disk is torture's subject
  const ask = createAsk({ ...deps, owner, respond: createBackend(writing) });
  const database = createDatabase(reading, { ask, close: async () => writing.close() });
  const handles = [reading.handle, writing.handle];
  for (const handle of handles) handle.function('clock_timestamp', () => deps.scheduler.now());
  return {
    database: forSeveralInstances(database),
    cut: () => {
      for (const handle of handles) handle.close();
    },
  };
}

type Waiting = PromiseWithResolvers<unknown> & { request: Request; since: number };

function createAsk({
  scheduler,
  faults,
  owner,
  respond,
  onCommit,
}: EngineWorld & {
  owner: Owner;
  respond: (request: Request) => unknown;
}): (request: Request) => Promise<unknown> {
  let batch: Waiting[] = [];
  const { name } = owner;
  const answer = (answers: readonly (() => void)[], what: string): void => {
    const at = scheduler.nowMs() + faults.delayMs();
    scheduler.add({
      owner,
      lane: `answers to ${name}`,
      what: `the store has answered ${what}`,
      at,
      run: () => {
        for (const give of answers) give();
      },
    });
  };
  const work = (requests: Waiting[]): void => {
    const answers: (() => void)[] = [];
    let what = '';
    for (const [at, one] of requests.entries()) {
      const { request, resolve, reject } = one;
      what += `${what && ', '}${request.kind}`;
      try {
        const value = serve(request);
        answers.push(() => resolve(value));
      } catch (error) {
        const isBusy = (error as { code?: string }).code === 'SQLITE_BUSY';
        if (isBusy && request.kind === 'begin' && scheduler.nowMs() - one.since < LOCK_WAIT_MS) {
          if (answers.length > 0) answer(answers, what);
          return send(requests.slice(at), BUSY_POLL_MS, 'waits for the lock');
        }
        answers.push(() => reject(error));
      }
    }
    answer(answers, what);
  };
  const serve = (request: Request): unknown => {
    if (isPoisoned(request)) return respond(POISON);
    if (request.kind !== 'commit') return respond(request);
    const fate = faults.onCommit();
    if (fate === 'full') {
      respond({ kind: 'rollback' });
      throw failure('SQLITE_FULL');
    }
    respond(request);
    onCommit(owner);
    if (fate === 'lost') throw failure('SQLITE_PROTOCOL');
    return undefined;
  };
  const send = (requests: Waiting[], delayMs: number, what: string): void => {
    const at = scheduler.nowMs() + delayMs;
    scheduler.add({ owner, lane: `thread of ${name}`, what, at, run: () => work(requests) });
  };
  return (request) => {
    const waiting = { ...Promise.withResolvers<unknown>(), request, since: scheduler.nowMs() };
    batch.push(waiting);
    if (batch.length === 1)
      process.nextTick(() => {
        const requests = batch;
        batch = [];
        send(requests, faults.delayMs(), `the store works: ${describe(requests)}`);
      });
    return waiting.promise;
  };
}

/** Rows that the store refuses, whatever stands beside them. */
function isPoisoned(request: Request): boolean {
  if (request.kind !== 'insert') return false;
  return request.rows.some((row) => row.includes(POISONED));
}

const POISON = { kind: 'run' as const, sql: 'SELECT 1 FROM poison', values: {} };

function describe(requests: readonly Waiting[]): string {
  return requests.map(({ request }) => kindOf(request)).join(', ');
}

const TABLE = /\b(?:INTO|UPDATE|FROM)\s+(\w+)/;

function kindOf(request: Request): string {
  if (!('sql' in request)) return request.kind;
  return `${request.kind} ${TABLE.exec(request.sql)?.[1] ?? ''}`;
}

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** PostgreSQL's words for what several instances do, which SQLite has no need for elsewhere. */
function toSqliteWords(sql: string): string {
  if (sql.includes('pg_advisory_xact_lock')) return 'SELECT 1';
  if (!sql.includes('worker_lease')) return sql;
  return sql
    .replaceAll(/\/\*postgres\*\/(.*?)\/\*sqlite .*?\*\//gs, '$1')
    .replaceAll(/make_interval\(secs => (\d+)\)/g, '$1000');
}

function forSeveralInstances(database: Database): Database {
  const work =
    <T>(run: (tx: Tx) => Promise<T>) =>
    (tx: Tx) =>
      run({ ...tx, ...inSqliteWords(tx) });
  return {
    ...database,
    ...inSqliteWords(database),
    transaction: (run) => database.transaction(work(run)),
    exclusive: (run) => database.exclusive(work(run)),
  };
}

function inSqliteWords(statements: Statements): Pick<Statements, 'all' | 'get' | 'run'> {
  return {
    all: (sql, values) => statements.all(toSqliteWords(sql), values),
    get: (sql, values) => statements.get(toSqliteWords(sql), values),
    run: (sql, values) => statements.run(toSqliteWords(sql), values),
  };
}
