import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';

/** Ends the program: what is wrong with its command line, on standard error. */
export function refuse(detail: string): never {
  process.stderr.write(`${detail} (--help shows the options)\n`);
  process.exit(2);
}

/** The options of a program of this folder. `--help` prints `usage` and ends it. */
export function readOptions<Options extends ParseArgsOptionsConfig>(
  usage: string,
  options: Options,
) {
  if (process.argv.includes('--help')) {
    process.stdout.write(usage);
    process.exit(0);
  }
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

/** A number above 0. */
export function positive(name: string, text: string): number {
  const number = Number(text);
  return number > 0 ? number : refuse(`--${name} wants a number above 0`);
}

/** A whole number from 1. */
export function whole(name: string, text: string): number {
  const number = positive(name, text);
  return Number.isInteger(number) ? number : refuse(`--${name} wants a whole number`);
}
