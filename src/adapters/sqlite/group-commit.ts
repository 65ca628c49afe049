import { isTrackportError } from '#shared/errors.ts';
import type { Database } from './database.ts';

type Waiting<In, Out> = {
  item: In;
  resolve: (result: Out) => void;
  reject: (error: unknown) => void;
};

/**
 * Lets all calls that arrive in one turn of the event loop share one transaction, and with it one
 * write to the disk. Each call is answered after the commit; when the commit fails, none of them
 * has happened. A call that fails for a reason of its own does not take the others with it.
 */
export function createGroupCommit<In, Out>(
  database: Pick<Database, 'transaction'>,
  write: (item: In) => Out,
): (item: In) => Promise<Out> {
  let waiting: Waiting<In, Out>[] = [];
  const flush = (): void => {
    const group = waiting;
    waiting = [];
    commit(database, write, group);
  };
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (waiting.length === 1) setImmediate(flush);
    });
}

function commit<In, Out>(
  database: Pick<Database, 'transaction'>,
  write: (item: In) => Out,
  group: Waiting<In, Out>[],
): void {
  try {
    const results = database.transaction(() => group.map(({ item }) => write(item)));
    for (const [index, { resolve }] of group.entries()) resolve(results[index] as Out);
  } catch (error) {
    if (group.length === 1 || isTrackportError(error, 'store-unavailable'))
      for (const { reject } of group) reject(error);
    else for (const one of group) commit(database, write, [one]);
  }
}
