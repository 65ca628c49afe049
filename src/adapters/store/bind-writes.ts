import type { Transact, Tx } from '#shared/database.ts';

type Write = (tx: Tx, ...input: never[]) => Promise<unknown>;

type Bound<W> = {
  [Name in keyof W]: W[Name] extends (tx: Tx, ...input: infer In) => infer Out
    ? (...input: In) => Out
    : never;
};

/** Functions that write in the transaction that they are given, each as a call in one of its own. */
export function bindWrites<W extends Readonly<Record<string, Write>>>(
  transact: Transact,
  writes: W,
): Bound<W> {
  const bound = Object.entries(writes).map(([name, write]) => [
    name,
    (...input: never[]) => transact((tx) => write(tx, ...input)),
  ]);
  return Object.fromEntries(bound) as Bound<W>;
}
