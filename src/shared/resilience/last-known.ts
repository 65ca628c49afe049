import type { Clock } from '../clock.ts';

/**
 * Returns the value that was read last without waiting, undefined until there is one. It is read anew in
 * the background once it is `everyMs` old; a read that fails leaves it.
 */
export function createLastKnown<T>({
  read,
  clock,
  everyMs,
}: {
  read: () => Promise<T>;
  clock: Clock;
  everyMs: number;
}) {
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
