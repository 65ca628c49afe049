import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { newUuid } from '#shared/ids.ts';
import { type Halt, type PostgresServer, startPostgres } from '../support/postgres/server.ts';
import { type Findings, openPostgresFindings, openSqliteFindings } from './findings.ts';

/** The store of all instances. */
export type TortureStore = {
  /** For the configuration's `store.url`. */
  url: string;
  openFindings(): Findings;
  /** Which of these texts stand anywhere in it. */
  find(texts: readonly string[]): Promise<string[]>;
  /** Only of a server of the torture's own. */
  server?: { halt(how: Halt): Promise<void>; start(): Promise<void> };
  close(): Promise<void>;
};

/** Which store, and where: `postgresUrl` is a running server, by default one is started. */
export type StoreChoice = { engine: 'sqlite' | 'postgres'; postgresUrl?: string };

/** An empty store. Close it after use. */
export async function openStore(
  { engine, postgresUrl }: StoreChoice,
  folder: string,
): Promise<TortureStore> {
  if (engine === 'sqlite') return openFile(path.join(folder, 'trackport.db'));
  if (postgresUrl !== undefined) return openPostgres(postgresUrl);
  const server = await startPostgres({ isDurable: true });
  try {
    return await openPostgres(server.url, server);
  } catch (error) {
    await server.stop();
    throw error;
  }
}

function openFile(file: string): TortureStore {
  return {
    url: `sqlite:${file}`,
    openFindings: () => openSqliteFindings(file),
    find: async (texts) => {
      const files = [file, `${file}-wal`].filter((name) => existsSync(name));
      const bytes = files.map((name) => readFileSync(name));
      return texts.filter((text) => bytes.some((part) => part.includes(text)));
    },
    close: async () => undefined,
  };
}

async function openPostgres(serverUrl: string, server?: PostgresServer): Promise<TortureStore> {
  const name = `trackport_torture_${newUuid().replaceAll('-', '')}`;
  await query(serverUrl, `CREATE DATABASE ${name} TEMPLATE template0`);
  const address = new URL(serverUrl);
  address.pathname = `/${name}`;
  const url = address.href;
  return {
    url,
    openFindings: () => openPostgresFindings(url),
    find: (texts) => findInRows(url, texts),
    ...(server && { server }),
    close: async () => {
      if (server) await server.stop();
      else await query(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

async function findInRows(url: string, texts: readonly string[]): Promise<string[]> {
  const tables = await query<{ name: string }>(
    url,
    "SELECT quote_ident(table_name) AS name FROM information_schema.tables WHERE table_schema = 'public'",
  );
  const found = new Set<string>();
  for (const { name } of tables)
    for (const row of await query<Record<string, unknown>>(url, `SELECT * FROM ${name}`))
      for (const value of Object.values(row)) {
        const bytes = Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value));
        for (const text of texts) if (bytes.includes(text)) found.add(text);
      }
  return [...found];
}

async function query<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}
