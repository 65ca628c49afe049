/**
 * `npm run bench`: every figure in one run and one table. `--quick` is a short run to see that all
 * of it works; `--only leads,partners` picks parts; `--json` prints rows for machines.
 */
import { parseArgs } from 'node:util';
import type { BenchRow } from './row.ts';

const full = {
  leads: 10_000,
  seconds: 5,
  rounds: 5,
  reads: 10_000,
  pollSeconds: 120,
  directory: 1_000_000,
  deletions: 20,
};
const quick = {
  leads: 500,
  seconds: 1,
  rounds: 1,
  reads: 200,
  pollSeconds: 10,
  directory: 20_000,
  deletions: 3,
};

const { values } = parseArgs({
  options: { quick: { type: 'boolean' }, json: { type: 'boolean' }, only: { type: 'string' } },
});
const scale = values.quick ? quick : full;

const parts: Record<string, () => Promise<BenchRow[]>> = {
  leads: async () => (await import('./leads.ts')).measureLeads(scale),
  intake: async () => (await import('./accept-delivery.ts')).measureIntake(scale),
  deletions: async () => (await import('./partners.ts')).measurePartners(scale),
};

const chosen = values.only?.split(',') ?? Object.keys(parts);
const rows: BenchRow[] = [];
for (const name of chosen) {
  if (!values.json) process.stderr.write(`measuring ${name} …\n`);
  rows.push(...((await parts[name]?.()) ?? []));
}
if (values.json) process.stdout.write(`${JSON.stringify(rows)}\n`);
else console.table(rows);
