import { setTimeout } from 'node:timers/promises';
import { isTrackportError } from '#shared/errors.ts';
import type { Database } from './database.ts';
import { isBusy } from './errors.ts';

/** Waits for another process's lock, in ms; about a second in all. The event loop goes on meanwhile. */
const WAITS_MS: readonly number[] = [1, 2, ...Array.from({ length: 200 }, () => 5)];

type Waiting<In, Out> = {
  item: In;
  resolve: (result: Out) => void;
  reject: (error: unknown) => void;
  /** How often it has waited for another process's lock. */
  waits: number;
};

type Committing<In, Out> = {
  database: Pick<Database, 'transactionNow'>;
  write: (item: In) => Out;
};

/**
 * Lets all calls that arrive in one turn of the event loop share one transaction, and with it one
 * write to the disk. Each call is answered after the commit; when the commit fails, none of them
 * has happened. A call that fails for a reason of its own does not take the others with it. While
 * another process writes, all that wait try together again, for about a second.
 */
export function createGroupCommit<In, Out>(
  database: Committing<In, Out>['database'],
  write: (item: In) => Out,
): (item: In) => Promise<Out> {
  let waiting: Waiting<In, Out>[] = [];
  let isFlushing = false;
  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      const left = commit({ database, write }, group);
      if (left.length === 0) continue;
      waiting = [...left, ...waiting];
      await setTimeout(WAITS_MS[Math.max(...left.map(({ waits }) => waits)) - 1]);
    }
    isFlushing = false;
  };
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject, waits: 0 });
      if (isFlushing) return;
      isFlushing = true;
      setImmediate(() => void flush());
    });
}

/** Answers those that another process's lock kept from being written, unless they waited enough. */
function commit<In, Out>(
  committing: Committing<In, Out>,
  group: Waiting<In, Out>[],
): Waiting<In, Out>[] {
  const { database, write } = committing;
  try {
    const results = database.transactionNow(() => group.map(({ item }) => write(item)));
    for (const [index, { resolve }] of group.entries()) resolve(results[index] as Out);
    return [];
  } catch (error) {
    const isHopeless = group.length === 1 || isTrackportError(error, 'store-unavailable');
    if (!isBusy(error) && !isHopeless) return group.flatMap((one) => commit(committing, [one]));
    const [patient, tired] = isBusy(error) ? splitByWaits(group) : [[], group];
    for (const { reject } of tired) reject(error);
    return patient.map((one) => ({ ...one, waits: one.waits + 1 }));
  }
}

function splitByWaits<In, Out>(group: Waiting<In, Out>[]) {
  const isTired = ({ waits }: Waiting<In, Out>): boolean => waits >= WAITS_MS.length;
  return [group.filter((one) => !isTired(one)), group.filter(isTired)] as const;
}
