import { setImmediate as endOfTurn } from 'node:timers/promises';

/** Takes what comes in the same turn of the event loop, and while a call is under way, into one call. */
export function createBatch<In, Out>(calls: {
  /** One result for each of the inputs, in their order. */
  callAll(inputs: readonly In[]): Promise<readonly Out[]>;
  /** Of one input; a batch comes to `sizeMax` at most, or is one that is larger alone. */
  sizeOf(input: In): number;
  sizeMax: number;
  /** True for an error that is everybody's. For another one each input is called with alone. */
  isShared(error: unknown): boolean;
}): (input: In) => Promise<Out> {
  type Waiting = PromiseWithResolvers<Out> & { input: In };
  let waiting: Waiting[] = [];
  let running: Promise<void> | undefined;
  const call = async (batch: readonly Waiting[]): Promise<void> => {
    try {
      const results = await calls.callAll(batch.map(({ input }) => input));
      for (const [at, { resolve }] of batch.entries()) resolve(results[at] as Out);
    } catch (error) {
      if (batch.length > 1 && !calls.isShared(error)) for (const one of batch) await call([one]);
      else for (const { reject } of batch) reject(error);
    }
  };
  const callAll = async (): Promise<void> => {
    for (await endOfTurn(); waiting.length > 0;) {
      let size = 0;
      const isOver = ({ input }: Waiting): boolean => (size += calls.sizeOf(input)) > calls.sizeMax;
      const fitting = waiting.findIndex(isOver);
      const count = fitting === -1 ? waiting.length : Math.max(1, fitting);
      const batch = waiting.slice(0, count);
      waiting = waiting.slice(count);
      await call(batch);
    }
    running = undefined;
  };
  return (input) => {
    const one = { ...Promise.withResolvers<Out>(), input };
    waiting.push(one);
    running ??= callAll();
    return one.promise;
  };
}
