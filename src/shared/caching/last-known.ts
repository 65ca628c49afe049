import type { Clock } from '../clock.ts';

export type LastKnownDeps<T> = {
  read: () => Promise<T>;
  clock: Pick<Clock, 'monotonicMs'>;
  /** How old the value may be before another look begins. */
  everyMs: number;
};

/**
 * What was read last, at once; undefined until something was. A value that is too old is read anew
 * behind the call. A read that fails leaves what is known.
 */
export function createLastKnown<T>({ read, clock, everyMs }: LastKnownDeps<T>) {
  let value: T | undefined;
  let lookedAt = -Infinity;
  return (): T | undefined => {
    const now = clock.monotonicMs();
    if (now - lookedAt >= everyMs) {
      lookedAt = now;
      read().then(
        (read) => (value = read),
        () => undefined,
      );
    }
    return value;
  };
}
