/** Functions that the tests have a thread do. */
import { threadId } from 'node:worker_threads';

export const echo = (input: unknown): unknown => input;
export const threadOf = (): number => threadId;
export const never = (): Promise<void> => new Promise(() => undefined);

export function fail(secret: string): never {
  throw new RangeError(secret);
}

export function crash(): void {
  process.exit(3);
}

export function throwLater(): Promise<void> {
  setImmediate(() => {
    throw new Error('nobody catches this');
  });
  return new Promise(() => undefined);
}

export function eatMemory(): number {
  const held: number[][] = [];
  for (;;) held.push(Array<number>(100_000).fill(held.length + 0.5));
}

export function work(turns: number): number {
  let sum = 0;
  for (let turn = 0; turn < turns; turn += 1) sum += Math.sqrt(turn);
  return sum;
}

let counted = 0;
export const count = (): number => (counted += 1);
