/** A process that plays histories, one seed after the other, and tells of each in a line of JSON. */
import { parseArgs } from 'node:util';
import { scratchFolder } from '../support/at-exit.ts';
import type { RunServer } from '../support/postgres/template.ts';
import { shrink } from './shrink.ts';
import { type Result, simulate, type Size, sizeOf } from './simulate.ts';
import { patchProcess } from './world/patch.ts';
import { loadSettings } from './world/settings.ts';
import { openStores } from './world/stores.ts';

/** Seeds `from`, `from + every`, … below `below`, until the time is over. */
export type Work = {
  from: number;
  every: number;
  below: number;
  /** Of them these alone; default all. */
  only?: readonly number[];
  seconds: number;
  shrinks: boolean;
  /** Instances have PostgreSQL there, else SQLite. */
  postgres?: RunServer;
} & Partial<Size>;

export type Told = Omit<Result, 'history'> & {
  history?: readonly string[];
  size?: Size;
  isOnPostgres: boolean;
};

/** Each read is a step there: so many more are needed for as much. */
const ON_POSTGRES = 3;

async function play({
  from,
  every,
  below,
  only,
  seconds,
  shrinks,
  postgres,
  ...size
}: Work): Promise<void> {
  using folder = scratchFolder('simulation');
  const stores = await openStores({ folder: folder.path, postgres });
  const simulation = { stores, config: loadSettings() };
  const endsAt = process.uptime() + seconds;
  patchProcess();
  for (let seed = from; seed < below && process.uptime() < endsAt; seed += every) {
    if (only && !only.includes(seed)) continue;
    const { steps, people } = sizeOf(seed);
    const whole = { steps: postgres ? ON_POSTGRES * steps : steps, people, ...size };
    const { history, ...result } = await simulate(simulation, seed, whole);
    const told =
      result.violations.length === 0 || !shrinks
        ? result
        : await shrink(simulation, { history, ...result }, whole);
    tell({ ...told, isOnPostgres: postgres !== undefined });
  }
}

function tell(told: Told): void {
  process.stdout.write(`${JSON.stringify(told)}\n`);
}

process.on('unhandledRejection', (error) => {
  process.stderr.write(`nobody waits for what failed: ${(error as Error).stack}\n`);
  process.exit(3);
});

const { values } = parseArgs({ options: { work: { type: 'string', default: '{}' } } });
const everything = {
  from: 1,
  every: 1,
  below: Infinity,
  seconds: Infinity,
  shrinks: true,
};
await play({ ...everything, ...(JSON.parse(values.work) as Partial<Work>) });
process.stdout.end(() => process.exit(0));
