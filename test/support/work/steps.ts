/** Ways to look through texts and lists, and what each of them goes through in one call. */
const counted: readonly [owner: object, name: string, steps: Steps][] = [
  [String.prototype, 'charCodeAt', () => 1],
  [String.prototype, 'codePointAt', () => 1],
  [String.prototype, 'indexOf', searched],
  [String.prototype, 'includes', searched],
  [String.prototype, 'charAt', () => 1],
  [String.prototype, 'substr', (_self, _given, result) => lengthOf(result)],
  [String.prototype, 'trim', lengthOf],
  [String.prototype, 'split', lengthOf],
  [String.prototype, 'match', lengthOf],
  [String.prototype, 'matchAll', lengthOf],
  [String.prototype, 'replace', lengthOf],
  [String.prototype, 'replaceAll', lengthOf],
  [String.prototype, 'normalize', lengthOf],
  [String.prototype, 'toLowerCase', lengthOf],
  [String.prototype, 'lastIndexOf', searched],
  [String.prototype, 'slice', (_self, _given, result) => lengthOf(result)],
  [String.prototype, 'substring', (_self, _given, result) => lengthOf(result)],
  [Array.prototype, 'includes', lengthOf],
  [Array.prototype, 'indexOf', lengthOf],
  [Array.prototype, 'lastIndexOf', lengthOf],
  [Array.prototype, 'some', lengthOf],
  [Array.prototype, 'find', lengthOf],
  [Array.prototype, 'findIndex', lengthOf],
  [Array.prototype, 'filter', lengthOf],
  [Array.prototype, 'slice', (_self, _given, result) => lengthOf(result)],
  [Set.prototype, 'has', () => 1],
  [Set.prototype, 'add', () => 1],
  [Map.prototype, 'get', () => 1],
  [Map.prototype, 'set', () => 1],
];

type Steps = (self: unknown, given: readonly unknown[], result: unknown) => number;
type Method = (...given: unknown[]) => unknown;

/**
 * Counts the characters and members that the look-ups of `run` go through. The same for every run and on
 * every machine, so that it can show how work grows where a clock would show the machine.
 */
export function stepsOf(run: () => void): number {
  let steps = 0;
  const restore = counted.map(([owner, name, cost]) => {
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
