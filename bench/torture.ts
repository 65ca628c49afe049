/**
 * `npm run torture -- --minutes 5 [--seed 1] [--instances 3] [--store postgres | --postgres URL]`:
 * kills the program at random moments under load, against a tracker that fails 30 % of the calls, while
 * salespeople edit leads, and shows what came of every deletion. With several instances one is killed
 * while the others go on. PostgreSQL is started for it, and shut down or crashed now and then; one that
 * `--postgres` names is left running.
 */
import { parseArgs } from 'node:util';
import { torture } from '../test/torture/torture.ts';
import type { StoreChoice } from '../test/torture/store.ts';
import { showOnStandardError } from './progress.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    instances: { type: 'string', default: '1' },
    store: { type: 'string' },
    postgres: { type: 'string' },
  },
});

const minutes = positive('minutes', values.minutes);
const seed = positive('seed', values.seed);
const instances = positive('instances', values.instances);
if (!Number.isInteger(instances)) refuse('--instances wants a whole number');
const store = chooseStore();

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));

const onProgress = showOnStandardError();
const report = await torture({ seconds: minutes * 60, seed, instances, store, onProgress });
const { violations, ...figures } = report;
console.table({ seed, store: store.engine, instances, ...figures, violations: violations.length });
for (const violation of violations) console.error(violation);
process.exit(violations.length === 0 ? 0 : 1);

function chooseStore(): StoreChoice {
  const { store: engine = values.postgres === undefined ? 'sqlite' : 'postgres', postgres } =
    values;
  if (engine !== 'sqlite' && engine !== 'postgres') refuse('--store is sqlite or postgres');
  if (engine === 'sqlite' && postgres !== undefined) refuse('--postgres does not go with SQLite');
  return { engine, ...(postgres !== undefined && { postgresUrl: postgres }) };
}

function positive(name: string, text: string): number {
  const number = Number(text);
  return number > 0 ? number : refuse(`--${name} wants a number above 0`);
}

function refuse(text: string): never {
  process.stderr.write(`${text}\n`);
  process.exit(2);
}
