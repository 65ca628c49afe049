import { rmSync } from 'node:fs';
import { silentLog } from '#shared/log.ts';
import type { Session } from '../../store/session.ts';
import { refuseUnlessEmpty } from '../../store/transfer/empty.ts';
import { openDatabase } from '../connection/database.ts';
import { guard } from '../connection/errors.ts';
import { migrate } from '../migrate.ts';
import { openDraft } from './draft.ts';
import { openExclusively } from './exclusive.ts';

/**
 * Has `make` fill a file, empty at first, that takes the place of an empty store: the whole of it, or nothing. The
 * store is made when it is missing.
 * @throws {store-unavailable} another process has it open, or it is not empty
 */
export async function replaceEmpty<T>(
  path: string,
  make: (draft: string) => Promise<T>,
): Promise<T> {
  const store = openExclusively(path);
  try {
    await refuseUnlessEmpty(store, 'Name another one, or move its files away.');
    const draft = guard(() => openDraft(store.file));
    try {
      const result = await make(draft.file);
      guard(() => {
        removeSidecars(store.file);
        draft.publish({ replace: true });
      });
      return result;
    } finally {
      draft.discard();
    }
  } finally {
    store.close();
  }
}

/** What lies beside an empty store is of that one, and would be taken for the new one's. */
function removeSidecars(file: string): void {
  for (const ending of ['-journal', '-wal', '-shm']) rmSync(`${file}${ending}`, { force: true });
}

/**
 * Lets `work` fill an empty store, in one transaction: a file that is dropped when something fails needs no commits
 * in between. @throws as `replaceEmpty`
 */
export function withEmpty<T>(path: string, work: (session: Session) => Promise<T>): Promise<T> {
  return replaceEmpty(path, async (draft) => {
    const database = openDatabase({ path: draft });
    try {
      await migrate({ database, log: silentLog });
      return await database.writing.transaction(work);
    } finally {
      database.close();
    }
  });
}
