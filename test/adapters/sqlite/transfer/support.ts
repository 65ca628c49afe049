import { readdirSync } from 'node:fs';
import path from 'node:path';
import { backUp, type BackupRequest } from '#adapters/sqlite/transfer/backup.ts';
import type { SqliteDatabase } from '#adapters/sqlite/database.ts';
import { temporaryFolder } from '../../../support/folder.ts';

/** Fills a store with audit entries of about 1 KB each. */
export function fillAudit({ handle }: Pick<SqliteDatabase, 'handle'>, count: number): void {
  handle
    .prepare(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
       INSERT INTO audit (at, actor_kind, actor_subject, action, subject, changes)
       SELECT i, 'cli', 'operator', 'key.create', 'consumer/' || i,
         json_object('text', hex(zeroblob(450)), 'number', i) FROM n`,
    )
    .run(count);
}

/** Backs the store up into a folder of its own, and says where the backup is. */
export async function backUpTo(
  { handle }: Pick<SqliteDatabase, 'handle'>,
  request: Partial<BackupRequest> = {},
): Promise<string> {
  const { file = path.join(temporaryFolder(), 'copy.backup') } = request;
  await backUp({
    storePath: handle.name,
    file,
    isForced: false,
    at: 1_790_000_000_000,
    version: '1.2.3',
    onProgress: () => undefined,
    ...request,
  });
  return file;
}

/** Files of a folder that are neither whole nor gone. */
export function leftovers(file: string): string[] {
  return readdirSync(path.dirname(file)).filter((name) => /\.part|-wal$|-journal$/.test(name));
}
