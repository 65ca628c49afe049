import { isTrackportError } from '#shared/errors.ts';
import type { Database, Session } from './database.ts';
import { claimTransaction } from './locks.ts';

/** Calls that share one transaction at most: what it holds up must be soon over. */
const GROUP_MAX = 100;

type Waiting<In, Out> = {
  item: In;
  resolve: (result: Out) => void;
  reject: (error: unknown) => void;
};

export type GroupCommit<In, Out> = {
  database: Pick<Database, 'transaction'>;
  /** Answers one result for each item, in their order. */
  write(session: Session, items: readonly In[]): Promise<readonly Out[]>;
  /** How many items from the first one on can go together; at least one. Default: all. */
  countTogether?: (items: readonly In[]) => number;
};

/**
 * Lets all calls that arrive while a transaction is under way share the next one (`claimTransaction`), and with it one
 * wait for the disk. Each call is answered after the commit; when the commit fails, none of them has
 * happened. A call that fails for a reason of its own does not take the others with it.
 */
export function createGroupCommit<In, Out>(deps: GroupCommit<In, Out>): (item: In) => Promise<Out> {
  const { countTogether = (items) => items.length } = deps;
  const waiting: Waiting<In, Out>[] = [];
  let isFlushing = false;
  const flush = async (): Promise<void> => {
    isFlushing = true;
    while (waiting.length > 0) {
      const next = waiting.slice(0, GROUP_MAX).map(({ item }) => item);
      await commit(deps, waiting.splice(0, countTogether(next)));
    }
    isFlushing = false;
  };
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!isFlushing) void flush();
    });
}

/** Never throws. */
async function commit<In, Out>(
  deps: GroupCommit<In, Out>,
  group: readonly Waiting<In, Out>[],
): Promise<void> {
  const items = group.map(({ item }) => item);
  try {
    const results = await claimTransaction(deps.database, (session) => deps.write(session, items));
    for (const [index, { resolve }] of group.entries()) resolve(results[index] as Out);
  } catch (error) {
    if (group.length > 1 && !isTrackportError(error, 'store-unavailable'))
      for (const one of group) await commit(deps, [one]);
    else for (const { reject } of group) reject(error);
  }
}
