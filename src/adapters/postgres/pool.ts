/** The connections to one database: how they are made, what is done where the server gives no more, and poolers. */
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { SECOND, systemClock } from '#shared/clock.ts';
import { unavailable } from '#shared/database.ts';
import { codeOf } from './errors.ts';

export type PoolOptions = {
  /** `postgres://user:password@host:port/database`. */
  url: string;
  /** Connections at most, default 10. */
  connectionsMax?: number;
  /** A call waits so long for one of them, with the time to make it, in ms; default 3 s. */
  connectTimeoutMs?: number;
};

/** Its connections throw the driver's own errors. */
export type Pool = {
  /** One that is free, or a new one; else waits for one. To be released by whoever asked for it. */
  connect(): Promise<pg.PoolClient>;
  /** Waits for those that are in use. */
  end(): Promise<void>;
};

const CONNECTIONS_MAX = 10;
const CONNECT_TIMEOUT_MS = 3 * SECOND;
const LOCK_TIMEOUT_MS = 3 * SECOND;
const STATEMENT_TIMEOUT_MS = 10 * SECOND;
/** Longer than the server's own: for a server that does not respond any more. */
const RESPONSE_TIMEOUT_MS = 15 * SECOND;
const IDLE_MS = 30 * SECOND;
/** After this long a call that was refused another connection asks for one again, old or new. */
const ASK_AGAIN_MS = 20;

const TOO_MANY_CONNECTIONS = '53300';

/**
 * Keeps what was acknowledged with 202 over a crash of the server; a commit that waits for replicas, too, stays so. Nor do
 * other defaults of the server, the database or the user change what a statement means: whoever waited
 * for a lock sees what was committed meanwhile, and an array holds NULL.
 */
const CONFIGURE = `
  SELECT set_config('statement_timeout', '${STATEMENT_TIMEOUT_MS}', false),
    set_config('lock_timeout', '${LOCK_TIMEOUT_MS}', false),
    set_config('idle_in_transaction_session_timeout', '${RESPONSE_TIMEOUT_MS}', false),
    set_config('default_transaction_isolation', 'read committed', false),
    set_config('array_nulls', 'on', false),
    set_config('extra_float_digits', '1', false),
    set_config('standard_conforming_strings', 'on', false),
    set_config('quote_all_identifiers', 'off', false),
    set_config('synchronous_commit',
      CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END,
      false),
    pg_is_in_recovery() AS is_standby`;

/** Nothing is connected before it is asked for. */
export function openPool(options: PoolOptions): Pool {
  const { connectionsMax = CONNECTIONS_MAX } = options;
  const pool = new pg.Pool({
    ...clientOf(options),
    max: connectionsMax,
    idleTimeoutMillis: IDLE_MS,
    types,
    pipeline: true, // what is asked for together goes one way to the server
    onConnect: configure,
  });
  pool.on('error', () => undefined); // an idle connection broke: the pool makes another
  return { connect: createConnect(pool, options), end: () => pool.end() };
}

/** Options of a connection that is not one of the pool. */
export function clientOf({
  url,
  connectTimeoutMs = CONNECT_TIMEOUT_MS,
}: PoolOptions): pg.ClientConfig {
  return {
    connectionString: verifyingFully(url),
    application_name: 'trackport',
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: RESPONSE_TIMEOUT_MS,
    keepAlive: true,
  };
}

/**
 * The driver checks certificates in full by each of these modes, and warns of the others at every start that
 * this will change: on stderr, between what a program reads.
 */
function verifyingFully(url: string): string {
  if (url.includes('uselibpqcompat=')) return url;
  return url.replace(/(?<=[?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, 'verify-full');
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
    throw unavailable('The server is a standby: store.url has to lead to the primary alone.');
}

/**
 * A role, a database or a server may give fewer connections than the pool may have, or others have them. Then
 * calls wait for one of those that the pool has.
 */
function createConnect(
  pool: pg.Pool,
  { connectTimeoutMs = CONNECT_TIMEOUT_MS }: PoolOptions,
): Pool['connect'] {
  const connect = async (untilMs: number): Promise<pg.PoolClient> => {
    try {
      return await pool.connect();
    } catch (error) {
      const isLate = systemClock.monotonicMs() >= untilMs;
      if (codeOf(error) !== TOO_MANY_CONNECTIONS || pool.totalCount === 0 || isLate) throw error;
      await setTimeout(ASK_AGAIN_MS);
      return connect(untilMs);
    }
  };
  return () => connect(systemClock.monotonicMs() + connectTimeoutMs);
}

/**
 * Refuses a pooler that lets clients share connections, by transaction or statement. Each carries settings, among
 * them those that make a commit durable, and prepared statements. Where there is no room for a second connection
 * nothing is found out. @throws {store-unavailable}
 */
export async function refuseSharedConnections(pool: Pool): Promise<void> {
  const one = await pool.connect();
  const other = await pool.connect().catch(() => undefined);
  let isBroken = true;
  try {
    if (other && !(await areApart(one, other)))
      throw unavailable(
        'A pooler lets clients share connections (PgBouncer with pool_mode=transaction or statement). Use pool_mode=session, or the address of the server itself.',
      );
    isBroken = false;
  } finally {
    for (const client of [one, other]) client?.release(isBroken);
  }
}

/** A pooler that is idle gives both the same connection; one that is busy, another while one is taken. */
async function areApart(one: pg.ClientBase, other: pg.ClientBase): Promise<boolean> {
  const first = await processOf(one);
  if ((await processOf(other)) === first) return false;
  await other.query('BEGIN');
  const isSame = (await processOf(one)) === first;
  await other.query('ROLLBACK');
  return isSame;
}

async function processOf(client: pg.ClientBase): Promise<number | undefined> {
  return (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid;
}

const INT8 = 20;
const JSON_TYPES: ReadonlySet<number> = new Set([114, 3802]);

/** Instants and counts are numbers; JSON stays text, as it is read by whoever stored it. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === INT8) return Number;
    if (JSON_TYPES.has(oid)) return (text: string) => text;
    return pg.types.getTypeParser(oid, format);
  }) as typeof pg.types.getTypeParser,
};
