import { parseChanges, renderChanges } from '#leads/feed/change.ts';
import type { ChangeLog, Watch } from '#leads/feed/change-log.ts';
import { SECOND } from '#shared/clock.ts';
import type { Database } from '../connection/database.ts';
import { guard } from '../connection/errors.ts';
import { feedWrites } from './write-family.ts';
import type { ChangeLogOptions } from './write-family.ts';

const LOOK_EVERY_MS = SECOND / 4;

type BatchRow = { position: number; changes: string | null };

/** The change log in SQLite; reads nothing while nothing was written to the store. */
export function createChangeLog(database: Database, options: ChangeLogOptions): ChangeLog {
  const { instanceId } = options;
  const sql = guard(() => prepare(database));
  const write = database.writer.open(feedWrites, options);
  let seen: { version: number; position: number } | undefined;
  return {
    append: (changes) => write('append', renderChanges(changes)),
    lastPosition: async () => guard(() => sql.lastPosition.get()) ?? 0,
    readAfter: async (position) => {
      const version = await database.version();
      if (seen?.version === version && seen.position === position) return [];
      const rows = guard(() => sql.after.all({ position, instanceId }));
      seen = { version, position: rows.at(-1)?.position ?? position };
      return rows.map((row) => ({
        position: row.position,
        changes: row.changes === null ? [] : parseChanges(row.changes),
      }));
    },
    watch: (onAppended) => watchVersion(database, onAppended),
  };
}

/** Nobody tells what another process wrote: the version of the file says that it did. */
function watchVersion(database: Database, onAppended: () => void): Watch {
  let seen: number | undefined;
  const look = async (): Promise<void> => {
    const version = await database.version();
    if (version === seen) return;
    seen = version;
    onAppended();
  };
  const timer = setInterval(() => void look().catch(() => undefined), LOOK_EVERY_MS).unref();
  return { close: async () => clearInterval(timer) };
}

function prepare({ handle }: Database) {
  return {
    lastPosition: handle
      .prepare<[], number | null>('SELECT MAX(position) FROM change_batch')
      .pluck(),
    after: handle.prepare<[{ position: number; instanceId: string }], BatchRow>(`
      SELECT position, CASE WHEN instanceId = @instanceId THEN NULL ELSE changes END AS changes
      FROM change_batch WHERE position > @position ORDER BY position`),
  };
}
