/** Ways to look through texts and lists, and what each of them goes through in one call. */
const counted: readonly [owner: object, names: string, steps: Steps][] = [
  [String.prototype, 'charCodeAt codePointAt charAt', () => 1],
  [String.prototype, 'indexOf includes lastIndexOf', searched],
  [String.prototype, 'substr slice substring', (_self, _given, result) => lengthOf(result)],
  [String.prototype, 'trim split match matchAll replace replaceAll', lengthOf],
  [String.prototype, 'normalize toLowerCase', lengthOf],
  [Array.prototype, 'includes indexOf lastIndexOf some find findIndex filter', lengthOf],
  [Array.prototype, 'slice', (_self, _given, result) => lengthOf(result)],
  [Set.prototype, 'has add', () => 1],
  [Map.prototype, 'get set', () => 1],
];

type Steps = (self: unknown, given: readonly unknown[], result: unknown) => number;
type Method = (...given: unknown[]) => unknown;

/**
 * Counts the characters and members that the look-ups of `run` go through. The same for every run and on
 * every machine, so that it can show how work grows where a clock would show the machine.
 */
export function stepsOf(run: () => void): number {
  let steps = 0;
  const methodsOf = counted.flatMap(([owner, names, cost]) =>
    names.split(' ').map((name) => ({ owner, name, cost })),
  );
  const restore = methodsOf.map(({ owner, name, cost }) => {
    const methods = owner as Record<string, Method>;
    const original = methods[name] as Method;
    methods[name] = function (this: unknown, ...given: unknown[]) {
      const result = Reflect.apply(original, this, given);
      steps += cost(this, given, result);
      return result;
    };
    return () => {
      methods[name] = original;
    };
  });
  try {
    run();
  } finally {
    for (const undo of restore) undo();
  }
  return steps;
}

/** From where the search began to where it ended: what was found, or the end. */
function searched(self: unknown, [, from]: readonly unknown[], result: unknown): number {
  const start = typeof from === 'number' ? from : 0;
  const end = typeof result === 'number' && result >= 0 ? result : lengthOf(self);
  return Math.abs(end - start) + 1;
}

function lengthOf(value: unknown): number {
  return (value as { length?: number }).length ?? 0;
}
