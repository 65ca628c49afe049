import { addAbortListener } from 'node:events';
import { type Clock, SECOND, sleepUntilAborted } from '#shared/clock.ts';
import type { Database } from '#shared/database.ts';
import { createTurns } from '#shared/resilience/turns.ts';
import { CHANNEL, type FeedPlace } from './stored-changes.ts';

/** In any case: what tells of changes may be cut off unnoticed. */
const POLL_EVERY_MS = 15 * SECOND;
/** A change is for many: others get their turn of the event loop in between. */
const WOKEN_A_TURN = 50;

export type ChangeSignal = ReturnType<typeof createChangeSignal>;

/** Wakes readers when the lead feed goes on. `readEnd`: the place behind all changes. */
export function createChangeSignal({
  db,
  readEnd,
  clock,
}: {
  db: Pick<Database, 'listen'>;
  readEnd: () => Promise<FeedPlace | undefined>;
  clock: Clock;
}) {
  const turn = createTurns(WOKEN_A_TURN);
  const waiting = new Set<() => void>();
  let watching: ReturnType<Database['listen']> | undefined;
  let polling: ReturnType<typeof setInterval> | undefined;
  let known: string | undefined;
  let seen = 0;
  /** Wakes those who wait, but not for other writes to the store. */
  const poll = async (): Promise<void> => {
    const end = await readEnd().then(String, () => undefined);
    if (end !== undefined && end === known) return;
    known = end;
    seen += 1;
    for (const wake of Array.from(waiting)) {
      await turn();
      wake();
    }
  };
  return {
    /** Listens from the first call on. Returns the number of changes so far; a read after it has them all. */
    listen: (): number => {
      watching ??= db.listen(CHANNEL, () => void poll());
      polling ??= setInterval(() => void poll(), POLL_EVERY_MS).unref();
      return seen;
    },
    /** Resolves with the first change after `before` or when the signal is aborted; false: after `ms` without either. */
    next: async (before: number, ms: number, signal: AbortSignal): Promise<boolean> => {
      const isOver = (): boolean => before !== seen || signal.aborted;
      if (isOver()) return true;
      const woken = new AbortController();
      const wake = (): void => woken.abort();
      using _over = addAbortListener(signal, wake);
      waiting.add(wake);
      await sleepUntilAborted(clock, ms, woken.signal);
      waiting.delete(wake);
      return isOver();
    },
    close: async (): Promise<void> => {
      clearInterval(polling);
      await watching?.close();
    },
  };
}
