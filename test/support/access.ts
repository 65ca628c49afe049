import { onTestFinished } from 'vitest';
import { type Access, createAccess } from '#access/index.ts';
import type { SqliteDatabase } from '#adapters/sqlite/database.ts';
import { newUuid } from '#shared/ids.ts';
import { silentLog } from '#shared/log.ts';
import { createCursorSealer } from '#shared/pagination/page.ts';
import { createFakeClock } from './clock.ts';
import { temporaryDatabase } from './stores.ts';

/** Access on `database`, else on one of its own, closed when the running test ends. */
export function buildAccess({
  database = temporaryDatabase(),
  clock = createFakeClock(),
  ...options
}: Partial<Omit<Parameters<typeof createAccess>[0], 'db'>> & {
  database?: SqliteDatabase;
} = {}): Access {
  const access = createAccess({
    db: database,
    cursors: createCursorSealer(Buffer.alloc(32, 1)),
    clock,
    newId: newUuid,
    log: silentLog,
    limitPerMinute: () => 600,
    ...options,
  });
  onTestFinished(() => access.close());
  return access;
}

/** True when a key lets its holder in. */
export function isKeyGood(access: Pick<Access, 'authenticate'>, key: string): Promise<boolean> {
  return access.authenticate(key).then(
    () => true,
    () => false,
  );
}
