/** The server of a store on PostgreSQL: its fitness for one, and the properties that `doctor` tells of. */
import type { Log } from '#shared/log.ts';
import { type Database, type Statements, unavailable } from '#shared/database.ts';
import { applyMigrations, type Migration, shippedMigrations } from '../migrations.ts';

/** The oldest major version that the tests are run on. */
const OLDEST_MAJOR = 15;

/** @see applyMigrations */
export async function migrate(
  { database, log }: { database: Database; log: Log },
  migrations = shippedMigrations('postgres'),
): Promise<Migration[]> {
  await refuseUnfit(database);
  return applyMigrations({ database, log }, migrations);
}

/** Refuses a server that no store can be on, and one whose store is only not found. @throws {store-unavailable} */
export async function refuseUnfit(database: Statements): Promise<void> {
  await refuseUnfitServer(database);
  await refuseHidden(database);
}

const SERVER = `
  SELECT current_setting('server_version_num')::integer / 10000 AS version,
    current_setting('server_encoding') AS encoding`;

/** In another encoding a delivery with a name that has no place in it could never be stored. */
async function refuseUnfitServer(database: Statements): Promise<void> {
  const server = await database.get<{ version: number; encoding: string }>(SERVER);
  if (server && server.version < OLDEST_MAJOR)
    throw unavailable(
      `The store is PostgreSQL ${server.version}: Trackport needs ${OLDEST_MAJOR} or newer.`,
    );
  if (server && server.encoding !== 'UTF8')
    throw unavailable(
      `The database is in ${server.encoding}: Trackport needs one in UTF-8 (createdb --encoding UTF8 --template template0).`,
    );
}

const HIDDEN = `
  SELECT relnamespace::regnamespace::text AS schema FROM pg_class
  WHERE relname = 'claim_version' AND to_regclass('migration') IS NULL`;

/** A second store beside one that is only not found would know of no deletion. */
async function refuseHidden(database: Statements): Promise<void> {
  const found = await database.get<{ schema: string }>(HIDDEN);
  if (found)
    throw unavailable(
      `Its tables are in the schema ${found.schema}, which is not in the search_path of its user (ALTER ROLE … SET search_path).`,
    );
}

/** Properties of the server and its user that a store depends on. */
export type ServerInfo = {
  /** `18.4`. */
  version: string;
  /** The user may create tables, which migrations of later versions do. */
  mayCreate: boolean;
  /** Connections that the user may have to the database, all instances together. */
  connectionsMax: number;
  /** False: what was acknowledged may be lost when the machine fails. */
  isDurable: boolean;
  /** Its clock; milliseconds since the Unix epoch. */
  now: number;
};

/** −1 means no limit of its own. */
const INFO = `
  SELECT current_setting('server_version') AS version,
    has_schema_privilege(current_schema(), 'CREATE') AS may_create,
    least(current_setting('max_connections')::integer
        - current_setting('superuser_reserved_connections')::integer,
      nullif(rolconnlimit, -1), nullif(datconnlimit, -1)) AS connections_max,
    current_setting('fsync')::boolean AS is_durable,
    (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now
  FROM pg_roles, pg_database WHERE rolname = current_user AND datname = current_database()`;

/** @throws {store-unavailable} */
export async function readServerInfo(db: Statements): Promise<ServerInfo> {
  const info = await db.get<ServerInfo>(INFO);
  if (!info) throw new Error('the server knows neither its user nor its database');
  return info;
}
