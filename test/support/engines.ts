import type { Database } from '#shared/database.ts';
import { temporaryPostgres } from './postgres/database.ts';
import { connectTo, threadedDatabase } from './stores.ts';

/** For `describe.each`: two instances on one empty store of each engine. */
export const engines: [engine: string, open: () => Promise<readonly [Database, Database]>][] = [
  [
    'SQLite, written by a thread',
    async () => {
      const database = threadedDatabase();
      return [database, connectTo(database.handle.name)];
    },
  ],
  [
    'PostgreSQL',
    async () => {
      const database = await temporaryPostgres();
      return [database, database];
    },
  ],
];
