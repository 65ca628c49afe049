import type { Statements } from '#shared/database.ts';

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
