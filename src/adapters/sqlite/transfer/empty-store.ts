import { rmSync } from 'node:fs';
import { silentLog } from '#shared/log.ts';
import { openConnection } from '../connection/connection.ts';
import { guard } from '../connection/errors.ts';
import { migrate } from '../migrate.ts';
import { openDraft } from './draft.ts';
import { refuseUnlessEmpty } from './empty.ts';
import { openExclusively } from './exclusive.ts';
import type { ExclusiveStore } from './exclusive.ts';

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
export function openEmptyStore(path: string): EmptyStore {
  const store = openExclusively(path);
  try {
    refuseFullStore(store);
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

function refuseFullStore({ handle, file }: ExclusiveStore): void {
  const draft = guard(() => openDraft(file));
  try {
    const fresh = openConnection(draft.file);
    try {
      migrate({ database: fresh, log: silentLog });
      guard(() => refuseUnlessEmpty(handle, fresh.handle));
    } finally {
      fresh.close();
    }
  } finally {
    draft.discard();
  }
}

/** What lies beside an empty store is of that one, and would be taken for the new one's. */
function removeSidecars(file: string): void {
  for (const ending of ['-journal', '-wal', '-shm']) rmSync(`${file}${ending}`, { force: true });
}
