const SMALL = 16_384;
const LARGE = 8 * SMALL;
const RUNS = 3;
/** Below this a clock tells more about the machine than about the function. */
const FLOOR_MS = 4;

/** A linear function takes about 8 times as long for the longer text, a quadratic one 64 times. */
export const LINEAR_GROWTH_MAX = 28;

/**
 * How many times as long the function takes for a text that is eight times as long. `make` writes a
 * text of about that many characters.
 */
export function growthOf(
  make: (characters: number) => string,
  run: (text: string) => void,
): number {
  return quickest(make(LARGE), run) / Math.max(FLOOR_MS, quickest(make(SMALL), run));
}

/** The least of a few runs: others use the machine too. */
function quickest(text: string, run: (text: string) => void): number {
  const times = Array.from({ length: RUNS }, () => {
    const startedAt = performance.now();
    run(text);
    return performance.now() - startedAt;
  });
  return Math.min(...times);
}

/** `text` again and again. */
export function repeated(text: string): (characters: number) => string {
  return (characters) => text.repeat(Math.ceil(characters / text.length)).slice(0, characters);
}

/** Combining marks of two classes in turn, which NFC has to put in order: quadratic. */
export const combiningMarks = repeated('\u0301\u0316');
