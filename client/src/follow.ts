import { type BatchesOptions, createExpiry } from './changes.ts';
import { CursorExpiredError } from './problem-error.ts';
import type { ChangeBatch } from './transports.ts';

/** A copy of the leads: a file, tables of a database, a map. */
export type LeadStore = {
  /** The cursor that was kept with the copy last; undefined while the copy is empty. */
  cursor(): string | undefined | Promise<string | undefined>;
  /**
   * Puts in what changed, takes out what was removed, and keeps the cursor, in one transaction: in the new copy from
   * `beginNew` to `swap`, else in the copy.
   */
  apply(batch: Pick<ChangeBatch, 'changes' | 'cursor'>): void | Promise<void>;
  /** Makes an empty new copy beside the copy, which stays as it is. One that is there already is thrown away. */
  beginNew(): void | Promise<void>;
  /** Puts the new copy, with its cursor, in the place of the copy, in one transaction. */
  swap(): void | Promise<void>;
};

export type FollowOptions = Omit<BatchesOptions, 'cursor' | 'from'>;

/** A copy that is kept right. */
export type Following = {
  /** Resolves once the copy has everything that there was. Rejects where `ended` comes before. */
  caughtUp: Promise<void>;
  /**
   * Resolves when `signal` was aborted and the last batch is kept. Rejects with what waiting does not mend: a
   * ProblemError, or an error of the store.
   */
  ended: Promise<void>;
};

/** A cursor without a change is kept so often: it is good for 30 days. */
const KEEP_CURSOR_EVERY_MS = 3_600_000;

/** Keeps a copy of every lead that the key may read. */
export function followLeads(
  read: (options: BatchesOptions) => AsyncGenerator<ChangeBatch, void>,
  store: LeadStore,
  options: FollowOptions = {},
): Following {
  let tell = (): void => undefined;
  const told = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const ended = keepCopy(read, store, { ...options, onCaughtUp: tell }).catch((error: unknown) => {
    if (!options.signal?.aborted) throw error;
  });
  const endedBefore = ended.then(() => Promise.reject(options.signal?.reason));
  const caughtUp = Promise.race([told, endedBefore]);
  // A caller that waits for the end alone hears of it there.
  caughtUp.catch(() => undefined);
  return { caughtUp, ended: ended.then(() => undefined) };
}

type KeepOptions = FollowOptions & { onCaughtUp: () => void };

/** After an expired cursor a new copy is made beside the old one, which is read until the new one has everything. */
async function keepCopy(
  read: (options: BatchesOptions) => AsyncGenerator<ChangeBatch, void>,
  store: LeadStore,
  { onCaughtUp, ...options }: KeepOptions,
): Promise<void> {
  let cursor = await store.cursor();
  const expiry = createExpiry(options);
  const onWhole = (): void => {
    expiry.noteCaughtUp();
    onCaughtUp();
  };
  for (let isNew = false; ; isNew = true) {
    const batches = read({ ...options, cursor, from: 'start' });
    try {
      await keepOneCopy(batches, store, { isNew, onCaughtUp: onWhole });
    } catch (error) {
      if (!(error instanceof CursorExpiredError)) throw error;
      await expiry.wait(error);
      await store.beginNew();
      cursor = undefined;
    }
  }
}

async function keepOneCopy(
  batches: AsyncGenerator<ChangeBatch, void>,
  store: LeadStore,
  { isNew, onCaughtUp }: { isNew: boolean; onCaughtUp: () => void },
): Promise<void> {
  let mustSwap = isNew;
  let keptAt = -Infinity;
  for await (const { changes, cursor, caughtUp } of batches) {
    const isDue = Date.now() - keptAt > KEEP_CURSOR_EVERY_MS;
    if (changes.length > 0 || (mustSwap && caughtUp) || isDue) {
      await store.apply({ changes, cursor });
      keptAt = Date.now();
    }
    if (!caughtUp) continue;
    if (mustSwap) await store.swap();
    mustSwap = false;
    onCaughtUp();
  }
}
