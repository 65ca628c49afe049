import { rmSync } from 'node:fs';
import { refuseUnlessEmpty } from '../../store/transfer/empty.ts';
import { guard } from '../connection/errors.ts';
import { createSession } from '../connection/session.ts';
import { openDraft } from './draft.ts';
import { openExclusively } from './exclusive.ts';
import { listCopiedTables } from './tables.ts';

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
    const { handle } = store;
    const tables = guard(() => listCopiedTables(handle));
    await refuseUnlessEmpty(createSession(handle), tables, ANOTHER);
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

const ANOTHER = 'Name another one, or move its files away.';

/** What lies beside an empty store is of that one, and would be taken for the new one's. */
function removeSidecars(file: string): void {
  for (const ending of ['-journal', '-wal', '-shm']) rmSync(`${file}${ending}`, { force: true });
}
