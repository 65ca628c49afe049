/** The store of a command's configuration: opened as late as possible, and closed in every case. */
import { type Access, createAccess } from '#access/index.ts';
import type { Store } from '#compose/store.ts';
import { newUuid } from '#shared/ids.ts';
import { silentLog } from '#shared/log.ts';
import type { Task } from './command.ts';

type Opening = {
  /** Default: true. False for a command that makes the store where there is none. */
  mustExist?: boolean;
};

/** Lets `work` have the store. */
export async function withStore<T>(
  { config, clock }: Task,
  work: (store: Store) => Promise<T>,
  { mustExist = true }: Opening = {},
): Promise<T> {
  const { openStore } = await import('#compose/store.ts');
  const store = await openStore({ config, clock, log: silentLog, mustExist });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Lets `work` have the consumers and the audit log in the store. */
export function withAccess<T>(
  task: Task,
  work: (access: Access) => Promise<T>,
  opening?: Opening,
): Promise<T> {
  const { config, clock } = task;
  const limitPerMinute = () => config.consumers.limitPerMinute;
  return withStore(
    task,
    ({ database: db, cursors }) =>
      work(createAccess({ db, cursors, newId: newUuid, clock, log: silentLog, limitPerMinute })),
    opening,
  );
}
