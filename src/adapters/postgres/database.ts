import pg from 'pg';
import { sha256Hex } from '#shared/crypto/hash.ts';
import { DAY, SECOND, sleepUntilAborted, systemClock } from '#shared/clock.ts';
import { createQueue } from '#shared/resilience/turns.ts';
import { createNextTurnFlight } from '#shared/resilience/single-flight.ts';
import { type Database, type Statements, type Values, withoutWarning } from '#shared/database.ts';
import { advisoryLocks, PARAMETER, SERVER_IDENTITY, toCamelCase, toRecords } from '#shared/sql.ts';
import { doublingSchedule, waitMsAfter } from '#shared/resilience/backoff.ts';
import {
  createStatements,
  createTransactions,
  type EngineTransaction,
  parametersOf,
  PREPARED_MAX,
  type StatementRequest,
  type StatementResult,
  valueOf,
} from '../statements.ts';
import { guard, isConnectionLost, isRetryable } from './errors.ts';
import {
  clientOf,
  openPool,
  type Pool,
  type PoolOptions,
  refuseSharedConnections,
} from './pool.ts';

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

/** A statement as the server takes it. */
type Statement = {
  /** Under which the server keeps it prepared; undefined: it does not. */
  name?: string;
  /** With `$1`, `$2`, … */
  text: string;
};

/** 96 bits of a hash: a name is sent with every run of its statement. */
const NAME_LENGTH = 24;

/**
 * Reads statements with named parameters, as every SQL text here is written, and names those that
 * are worth preparing. The name follows from the text: whoever prepared it, no other statement has it.
 */
function createStatementReader(): (sql: string) => Statement {
  const known = new Map<string, Statement>();
  return (sql) => {
    const before = known.get(sql);
    if (before) return before;
    const text = numbered(sql);
    if (known.size >= PREPARED_MAX) return { text };
    const prepared = { text, name: `trackport_${sha256Hex(text).slice(0, NAME_LENGTH)}` };
    known.set(sql, prepared);
    return prepared;
  };
}

function numbered(sql: string): string {
  const names = parametersOf(sql);
  return sql.replaceAll(PARAMETER, (_match, name: string) => `$${names.indexOf(name) + 1}`);
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

const WAITS = doublingSchedule(SECOND / 10, 10 * SECOND);
/** A connection that the network cut off says nothing: it is asked now and then. */
const ASK_EVERY_MS = 30 * SECOND;
const END_WITHIN_MS = SECOND;

/** Somebody notified the channel, or may have: `onNotified` is also called each time a connection begins to hear it. */
type Listener = { channel: string; onNotified: () => void };

/** Those who listen now, on one connection; `joined` wakes it when one more does. */
type Audience = {
  config: pg.ClientConfig;
  listeners: Set<Listener>;
  joined: AbortController;
};

/**
 * Listens for everybody on one connection of its own, which is there while anybody does, and makes another one
 * whenever it breaks. What is notified in between is lost; `onNotified` is called after it. `config`: how to connect.
 */
function createListening(config: pg.ClientConfig): Database['listen'] {
  const joined = new AbortController();
  const audience: Audience = { config, listeners: new Set(), joined };
  let listening: { closing: AbortController; ended: Promise<void> } | undefined;
  const begin = () => {
    const closing = new AbortController();
    return { closing, ended: keepHearing(audience, closing.signal) };
  };
  return (channel, onNotified) => {
    const listener = { channel, onNotified };
    audience.listeners.add(listener);
    audience.joined.abort();
    const heard = (listening ??= begin());
    return {
      close: async () => {
        audience.listeners.delete(listener);
        if (audience.listeners.size > 0) return;
        if (listening === heard) listening = undefined;
        heard.closing.abort();
        await heard.ended;
      },
    };
  };
}

async function keepHearing(audience: Audience, closing: AbortSignal): Promise<void> {
  let failures = 0;
  const onHeard = (): void => {
    failures = 0;
  };
  while (!closing.aborted) {
    await hear(audience, onHeard, closing).catch(() => undefined);
    failures += 1;
    await sleepUntilAborted(systemClock, waitMsAfter(WAITS, failures), closing);
  }
}

/** Resolves or rejects when the connection is of no use any more. */
async function hear(audience: Audience, onHeard: () => void, closing: AbortSignal): Promise<void> {
  const client = new pg.Client(audience.config);
  const ended = new AbortController();
  for (const event of ['end', 'error'] as const) client.on(event, () => ended.abort());
  client.on('notification', (notified) => {
    for (const { channel, onNotified } of audience.listeners)
      if (channel === notified.channel) onNotified();
  });
  try {
    await client.connect();
    const over = AbortSignal.any([ended.signal, closing]);
    const heard = new WeakSet<Listener>();
    while (!over.aborted) {
      audience.joined = new AbortController();
      const listeners = [...audience.listeners];
      await client.query(listeners.map(({ channel }) => `LISTEN ${channel}`).join('; '));
      onHeard();
      for (const one of listeners) if (!heard.has(one)) one.onNotified();
      for (const one of listeners) heard.add(one);
      await sleepUntilAborted(
        systemClock,
        ASK_EVERY_MS,
        AbortSignal.any([over, audience.joined.signal]),
      );
    }
  } finally {
    const left = client.end().catch(() => undefined);
    await Promise.race([left, systemClock.sleep(END_WITHIN_MS, { unref: true })]);
  }
}
