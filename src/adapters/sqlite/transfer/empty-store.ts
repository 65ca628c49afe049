import { rmSync } from 'node:fs';
import { silentLog } from '#shared/log.ts';
import type { Session } from '../../store/session.ts';
import { refuseUnlessEmpty } from '../../store/transfer/empty.ts';
import { openConnection } from '../connection/connection.ts';
import { guard } from '../connection/errors.ts';
import { migrate } from '../migrate.ts';
import { openDraft } from './draft.ts';
import { openExclusively } from './exclusive.ts';

/** An empty store that nobody has open, and the file that is to take its place. */
export type EmptyStore = {
  /** Beside the store's file, empty. */
  readonly draft: string;
  /** Puts the draft, which nobody has open any more, in the store's place. */
  replace(): void;
  /** Lets go of the store, and removes a draft that did not replace it. */
  close(): void;
};

/**
 * Takes the store of this path, which is made when it is missing, to replace it.
 * @throws {store-unavailable} another process has it open, or it is not empty
 */
export async function openEmptyStore(path: string): Promise<EmptyStore> {
  const store = openExclusively(path);
  try {
    await refuseUnlessEmpty(store, 'Name another one, or move its files away.');
    const draft = guard(() => openDraft(store.file));
    return {
      draft: draft.file,
      replace: () =>
        guard(() => {
          removeSidecars(store.file);
          draft.publish({ replace: true });
        }),
      close: () => {
        draft.discard();
        store.close();
      },
    };
  } catch (error) {
    store.close();
    throw error;
  }
}

/** What lies beside an empty store is of that one, and would be taken for the new one's. */
function removeSidecars(file: string): void {
  for (const ending of ['-journal', '-wal', '-shm']) rmSync(`${file}${ending}`, { force: true });
}

/**
 * Lets `work` fill an empty store: the whole of what it writes, or nothing. The file is made when it
 * is missing.
 * @throws {store-unavailable} also when it is in use, or not empty
 */
export async function withEmpty<T>(
  path: string,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const target = await openEmptyStore(path);
  try {
    const result = await fill(target.draft, work);
    target.replace();
    return result;
  } finally {
    target.close();
  }
}

/** In one transaction: a file that is dropped when something fails needs no commits in between. */
async function fill<T>(file: string, work: (session: Session) => Promise<T>): Promise<T> {
  const connection = openConnection(file);
  try {
    migrate({ database: connection, log: silentLog });
    return await connection.transactionNow(() => work(connection));
  } finally {
    connection.close();
  }
}
