/** `npm run torture`: what becomes of deletions on bad days. `--help` says what it does to the program. */
import { positive, readOptions, refuse, whole } from './options.ts';
import { exitAtSignals } from '../test/support/at-exit.ts';
import { cutPower } from '../test/torture/power/power.ts';
import { findPlanted } from '../test/simulation/planted/find.ts';
import { simulateInTime } from '../test/simulation/in-time.ts';
import { torture } from '../test/torture/torture.ts';
import type { StoreChoice } from '../test/torture/store.ts';
import { showOnStandardError } from './progress.ts';

const POWER_CUTS = 30;

const USAGE = `npm run torture -- [--minutes 5] [--seed N] [--instances N] [--store sqlite|postgres] [--postgres URL] [--power-cuts N]

Kills the program at random moments under load, against a tracker that fails 30 % of the calls, while
salespeople edit leads and a partner floods it with events, and shows what came of every deletion. Exits with 1 when a promise was broken.

  --minutes M     how long; 5 unless given
  --seed N        repeats the choices of an earlier run; random unless given
  --instances N   so many on one store, of which one is killed while the others go on; 1 unless given.
                  The last one's file lacks a partner for the first half of the time
  --store ENGINE  sqlite or postgres; PostgreSQL is started for it, and shut down or crashed now and then
  --postgres URL  a PostgreSQL that is there already, and is left running
  --simulate      plays histories of a simulated service instead, as many as there is time for; --seed N begins with that one,
                  --seeds N plays so many, --steps N and --people X (0 to 1) less of each; --store and --postgres as above,
                  but one that is started for it is not disturbed;
                  --planted plants mistakes, one at a time, and tells how many histories it takes to find each
  --power-cuts N  on SQLite, and before the rest: under load the power goes N times (30; 0 for none), and the program is started
                  on what the disk may hold then. Needs Linux and a C compiler
`;

const values = readOptions(USAGE, {
  minutes: { type: 'string', default: '5' },
  seed: { type: 'string', default: String((Date.now() % 1_000_000) + 1) },
  instances: { type: 'string', default: '1' },
  store: { type: 'string' },
  postgres: { type: 'string' },
  'power-cuts': { type: 'string' },
  simulate: { type: 'boolean', default: false },
  seeds: { type: 'string' },
  planted: { type: 'boolean', default: false },
  steps: { type: 'string' },
  people: { type: 'string' },
});

const minutes = positive('minutes', values.minutes);
const seed = positive('seed', values.seed);
const instances = whole('instances', values.instances);
const store = chooseStore();
if (values.simulate) process.exit(await simulate());
const cuts = choosePowerCuts();

exitAtSignals();

const onProgress = showOnStandardError();
const power = cuts > 0 ? await cutPower({ cuts, seed, onProgress }) : undefined;
if (power) show({ seed, ...power });
else if (cuts > 0) console.error('no power cuts: there is no C compiler (cc)');

const report = await torture({ seconds: minutes * 60, seed, instances, store, onProgress });
show({ seed, store: store.engine, instances, ...report });
process.exit(report.violations.length + (power?.violations.length ?? 0) === 0 ? 0 : 1);

/** Returns the exit code. */
async function simulate(): Promise<number> {
  const { seeds, steps, people, planted } = values;
  if (planted && store.engine !== 'sqlite') refuse('--planted goes with SQLite alone');
  if (planted) return findPlanted(whole('seeds', seeds ?? '2000'));
  const work = {
    from: seed,
    ...(seeds === undefined ? { seconds: minutes * 60 } : { below: seed + whole('seeds', seeds) }),
    ...(steps !== undefined && { steps: whole('steps', steps) }),
    ...(people !== undefined && { people: positive('people', people) }),
  };
  return simulateInTime(work, store);
}

function show({
  violations,
  ...figures
}: Record<string, unknown> & { violations: string[] }): void {
  console.table({ ...figures, violations: violations.length });
  for (const violation of violations) console.error(violation);
}

function chooseStore(): StoreChoice {
  const { store: engine = values.postgres === undefined ? 'sqlite' : 'postgres', postgres } =
    values;
  if (engine !== 'sqlite' && engine !== 'postgres') refuse('--store is sqlite or postgres');
  if (engine === 'sqlite' && postgres !== undefined) refuse('--postgres does not go with SQLite');
  return { engine, ...(postgres !== undefined && { postgresUrl: postgres }) };
}

function choosePowerCuts(): number {
  const { 'power-cuts': given } = values;
  if (given === undefined) return store.engine === 'sqlite' ? POWER_CUTS : 0;
  if (store.engine !== 'sqlite') refuse('--power-cuts goes with SQLite alone');
  return given === '0' ? 0 : whole('power-cuts', given);
}
