import { SECOND } from '#shared/clock.ts';
import { silentLog } from '#shared/log.ts';
import { type Statements, type Tx, unavailable } from '#shared/database.ts';
import { refuseOtherSchema, shippedMigrations } from '../migrations.ts';
import { refuseUnlessEmpty } from '../copy-tables.ts';
import { openDatabase, type PostgresDatabase } from './database.ts';
import { migrate } from './server.ts';

/** The other store may keep the transaction waiting for as long as this. */
const IDLE_MAX_MS = 3600 * SECOND;

/** A server under load still lists who has just gone: so often it is asked again, after 0.1 s each. */
const LOOKS = 30;

/**
 * Instances and commands, those that are idle among them: each has a connection for as long as it runs.
 * @see https://www.postgresql.org/docs/current/monitoring-stats.html#MONITORING-PG-STAT-ACTIVITY-VIEW
 */
const OTHERS = `
  SELECT count(*) AS others FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = current_setting('application_name')
    AND pid <> pg_backend_pid()`;

/** One that was cut off from the server may live on until its lease ends. */
const WORKING = `
  SELECT ceil(extract(epoch FROM until - clock_timestamp()))::integer AS seconds FROM worker_lease
  WHERE holder IS NOT NULL AND until > clock_timestamp()`;

const TABLES = `
  SELECT quote_ident(relname) AS name FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') ORDER BY relname`;

/**
 * Lets `work` have a stopped store for itself: the whole of what it writes is there afterwards, or nothing.
 * @throws {store-unavailable} also when it is in use, or has another schema than today's
 */
export function withStopped<T>(url: string, work: (tx: Tx) => Promise<T>): Promise<T> {
  return withDatabase(url, async (database) => {
    await refuseOtherSchema(database, shippedMigrations('postgres'));
    return withExclusive(database, work);
  });
}

/**
 * Lets `work` fill an empty store: the whole of what it writes, or nothing. The schema is made where
 * it is missing.
 * @throws {store-unavailable} also when it is in use, or not empty
 */
export function withEmpty<T>(url: string, work: (tx: Tx) => Promise<T>): Promise<T> {
  return withDatabase(url, async (database) => {
    await migrate({ database, log: silentLog });
    return withExclusive(database, async (tx) => {
      await refuseUnlessEmpty(tx, 'Name another database, or drop this one and create it again.');
      return work(tx);
    });
  });
}

/** On one connection, so that every other one is somebody else's. */
async function withDatabase<T>(
  url: string,
  work: (database: PostgresDatabase) => Promise<T>,
): Promise<T> {
  await withConnections(2, url, (database) => database.refuseSharedConnections());
  return withConnections(1, url, work);
}

async function withConnections<T>(
  connectionsMax: number,
  url: string,
  work: (database: PostgresDatabase) => Promise<T>,
): Promise<T> {
  const database = openDatabase({ url, connectionsMax, idleMaxMs: IDLE_MAX_MS });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/**
 * In one transaction, while nobody else can read or write: a service that is started waits, and gives up.
 * @throws {store-unavailable} also when somebody has the store in use
 */
async function withExclusive<T>(
  database: PostgresDatabase,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  await untilAlone(database);
  return database.transaction(async (tx) => {
    await tx.exec(`
      SET LOCAL statement_timeout = 0;
      SET LOCAL idle_in_transaction_session_timeout = ${IDLE_MAX_MS}`);
    const tables = await tx.all<{ name: string }>(TABLES);
    await tx.exec(
      `LOCK TABLE ${tables.map(({ name }) => name).join(', ')} IN ACCESS EXCLUSIVE MODE`,
    );
    await refuseInUse(tx); // whoever came meanwhile
    return work(tx);
  });
}

async function untilAlone(db: Statements): Promise<void> {
  for (let looks = 1; looks < LOOKS && (await countOthers(db)) > 0; looks += 1)
    await db.get('SELECT pg_sleep(0.1)');
}

async function countOthers(db: Statements): Promise<number> {
  return (await db.get<{ others: number }>(OTHERS))?.others ?? 0;
}

async function refuseInUse(db: Statements): Promise<void> {
  const others = await countOthers(db);
  if (others > 0)
    throw unavailable(
      `The store is in use: Trackport has ${others} other connections to it. Stop every service and command that works on it first.`,
    );
  const lease = await db.get<{ seconds: number }>(WORKING);
  if (lease)
    throw unavailable(
      `The store is worked on by an instance. Stop it first; if it was killed, wait ${lease.seconds} seconds.`,
    );
}
