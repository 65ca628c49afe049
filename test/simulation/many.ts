import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { endAtExit } from '../support/at-exit.ts';
import type { Told, Work } from './worker.ts';

const WORKER = fileURLToPath(new URL('worker.ts', import.meta.url));
const HISTORY_LINES = 60;

export type Many = Partial<Work> & {
  /** Processes that play, each with seeds of its own. */
  processes: number;
  onTold?: (told: Told) => void;
  /** Nothing more is played then. */
  endsAtViolation?: boolean;
  /** The tree that is played; default this one. */
  worker?: string;
};

/** Plays many histories in processes of their own. @throws when one of them ends by itself */
export async function simulateMany({
  processes,
  onTold,
  worker = WORKER,
  endsAtViolation = false,
  from = 1,
  ...work
}: Many): Promise<Told[]> {
  const all: Told[] = [];
  const over = new AbortController();
  const play = async (place: number): Promise<void> => {
    const own = JSON.stringify({ ...work, from: from + place, every: processes });
    const child = endAtExit(
      spawn(process.execPath, [worker, '--work', own], { stdio: ['ignore', 'pipe', 'inherit'] }),
    );
    over.signal.addEventListener('abort', () => void child.kill('SIGKILL'));
    const exited = once(child, 'exit');
    for await (const line of createInterface({ input: child.stdout })) {
      const told = JSON.parse(line) as Told;
      all.push(told);
      onTold?.(told);
      if (endsAtViolation && told.violations.length > 0) over.abort();
    }
    const [code] = (await exited) as [number | null];
    if (code !== 0 && !over.signal.aborted) throw new Error(`a simulation ended with code ${code}`);
  };
  await Promise.all(Array.from({ length: processes }, (_, place) => play(place)));
  return all.sort((left, right) => left.seed - right.seed);
}

/** The violations, the steps to them, and how to see them again. */
export function describe({ seed, violations, history = [], size, isOnPostgres }: Told): string {
  const store = isOnPostgres ? ' --store postgres' : '';
  const less = size ? ` --steps ${size.steps} --people ${size.people}` : '';
  return [
    `seed ${seed}: ${violations.join('; ')}`,
    ...history.slice(-HISTORY_LINES),
    `again: npm run torture -- --simulate${store} --seed ${seed} --seeds 1${less}`,
  ].join('\n');
}
