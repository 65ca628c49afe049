/** Plants each mistake in a copy of the tree, and plays histories there until one shows it. */
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { scratchFolder } from '../../support/at-exit.ts';
import useMemoryFolder from '../../support/memory-folder.ts';
import { simulateMany } from '../many.ts';
import { type Bug, bugs } from './bugs.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const COPIED = [
  'src',
  'sandbox',
  'test/simulation',
  'test/support',
  'migrations',
  'config',
  'package.json',
];

type Found = { bug: string; seeds: number; violation: string | undefined };

/** The text of the file with the mistake in it. @throws when the place is not there exactly once */
export function plant({ file, from, to, name }: Bug): string {
  const text = readFileSync(path.join(root, file), 'utf8');
  if (text.split(from).length !== 2)
    throw new Error(`there is no one place in ${file} for: ${name}`);
  return text.replace(from, () => to);
}

/** Plays up to `seeds` histories with each mistake, tells what they came to, and returns the exit code. */
export async function findPlanted(seeds: number): Promise<number> {
  const leave = useMemoryFolder();
  try {
    const found: Found[] = [];
    for (const bug of bugs) {
      found.push(await find(bug, seeds));
      console.error(JSON.stringify(found.at(-1)));
    }
    return found.every(({ violation }) => violation !== undefined) ? 0 : 1;
  } finally {
    leave();
  }
}

async function find(bug: Bug, seeds: number): Promise<Found> {
  using copy = scratchFolder('planted');
  for (const name of COPIED)
    cpSync(path.join(root, name), path.join(copy.path, name), { recursive: true });
  symlinkSync(path.join(root, 'node_modules'), path.join(copy.path, 'node_modules'));
  writeFileSync(path.join(copy.path, bug.file), plant(bug));
  const told = await simulateMany({
    processes: availableParallelism(),
    below: seeds + 1,
    worker: path.join(copy.path, 'test/simulation/worker.ts'),
    shrinks: false,
    endsAtViolation: true,
  });
  const first = told.find(({ violations }) => violations.length > 0);
  return { bug: bug.name, seeds: told.length, violation: first?.violations[0] };
}
