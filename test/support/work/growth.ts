import { Session } from 'node:inspector';
import { stepsOf } from './steps.ts';

const SMALL = 32_000;
/** More than any native function goes through within a test's time-out when it takes quadratic time. */
const LARGE = 8 * SMALL;

/** A linear function takes as many steps a character for the longer text, a quadratic one 8 times. */
export const LINEAR_GROWTH_MAX = 2;

/** For a test of growth: in milliseconds, a hundred times what linear work takes. */
export const GROWTH_TIMEOUT_MS = 10_000;

/**
 * Tells how many times as many steps the function takes for each character of a text that is eight times as
 * long. `make` writes a text of about that many characters.
 */
export function growthOf(
  make: (characters: number) => string,
  run: (text: string) => void,
): number {
  run(make(1)); // what is done once only
  const [few, many] = [SMALL, LARGE].map((characters) => {
    const text = make(characters);
    return allStepsOf(() => run(text)) / characters;
  });
  return (many ?? Infinity) / Math.max(1, few ?? 0);
}

/** Counts steps of look-ups, and runs of each piece of our code. */
function allStepsOf(run: () => void): number {
  takeCounts();
  const steps = stepsOf(run);
  return steps + takeCounts();
}

type Coverage = { url: string; functions: { ranges: { count: number }[] }[] };

/** V8 counts what it compiles from now on, and functions are compiled when they are first called. */
const counting = new Session();
counting.connect();
counting.post('Profiler.enable');
counting.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });

/** Counts runs of functions, branches and loops under `src` since the last time. */
function takeCounts(): number {
  let scripts: readonly Coverage[] = [];
  counting.post('Profiler.takePreciseCoverage', (error, { result }) => {
    if (error) throw error;
    scripts = result;
  });
  return scripts
    .filter(({ url }) => url.includes('/src/'))
    .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges))
    .reduce((sum, { count }) => sum + count, 0);
}

/** `text` again and again. */
export function repeated(text: string): (characters: number) => string {
  return (characters) => text.repeat(Math.ceil(characters / text.length)).slice(0, characters);
}

/** Combining marks of two classes in turn, which NFC has to put in order: quadratic. */
export const combiningMarks = repeated('\u0301\u0316');
