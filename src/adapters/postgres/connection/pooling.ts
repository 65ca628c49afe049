/** What a pooler between Trackport and PostgreSQL does to connections. */
import type pg from 'pg';
import { TrackportError } from '#shared/errors.ts';
import type { Pool } from './pool.ts';

/**
 * Refuses a pooler that lets clients share connections. Each carries settings, among them those that
 * make a commit durable, and prepared statements. @throws {store-unavailable}
 */
export async function refuseSharedConnections(database: {
  hasOwnConnections(): Promise<boolean>;
}): Promise<void> {
  if (await database.hasOwnConnections()) return;
  throw new TrackportError('store-unavailable', {
    detail:
      'A pooler lets clients share connections (PgBouncer with pool_mode=transaction or statement). Use pool_mode=session, or the address of the server itself.',
  });
}

/** False where clients of the pool share connections; true where it has but one. */
export async function hasOwnConnections(pool: Pick<Pool, 'connect'>): Promise<boolean> {
  const one = await pool.connect();
  const other = await pool.connect().catch(() => undefined);
  let isBroken = true;
  try {
    const isOwn = other === undefined || (await areApart(one, other));
    isBroken = false;
    return isOwn;
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
