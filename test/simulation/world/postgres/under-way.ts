// Those that were there before anything was patched.
const { setTimeout: startTimer, clearTimeout: stopTimer } = globalThis;

/** Ms of real time until it is looked whether whoever is not answered waits for a lock. */
const LOOK_AFTER_MS = 2;
const LOOKS_MAX = 15_000;

type Asking = { processID: number | null };

export type UnderWay = ReturnType<typeof createUnderWay>;

/** Work at a server that no scheduler can order. `findWaiting`: its processes that wait for a lock. */
export function createUnderWay(findWaiting: () => number[]) {
  const requests = new Set<Asking>();
  const notifications = new Set<string>();
  let change = Promise.withResolvers<void>();
  let someWait = false;
  const areWaiting = (): boolean => {
    const waiting = new Set(findWaiting());
    return [...requests].every(({ processID }) => waiting.has(processID ?? 0));
  };
  const pause = async (): Promise<void> => {
    change = Promise.withResolvers();
    const timer = startTimer(change.resolve, LOOK_AFTER_MS);
    await change.promise;
    stopTimer(timer);
  };
  return {
    begin: (one: Asking) => void requests.add(one),
    end: (one: Asking) => {
      requests.delete(one);
      change.resolve();
    },
    /** Somebody must be told of something. */
    expect: (notification: string) => void notifications.add(notification),
    arrived: (notification: string) => {
      notifications.delete(notification);
      change.resolve();
    },
    /** Resolves when nothing goes on but what waits for a lock. */
    settled: async (): Promise<void> => {
      for (let looks = 0; requests.size + notifications.size > 0; looks += 1) {
        if (looks > LOOKS_MAX) throw new Error('the server does not answer');
        const isLook = notifications.size === 0 && (someWait || looks > 0);
        someWait = isLook && areWaiting();
        if (someWait) return;
        await pause();
      }
    },
  };
}
