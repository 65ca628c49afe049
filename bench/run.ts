/**
 * `npm run bench`: every figure in one run and one table. `--quick` is a short run to see that all
 * of it works; `--only leads,partners` picks parts; `--json` prints rows for machines.
 */
import { parseArgs } from 'node:util';

import type { BenchRow } from './row.ts';

const { values } = parseArgs({
  options: { quick: { type: 'boolean' }, json: { type: 'boolean' }, only: { type: 'string' } },
});

/** `leads` counts rows: with pull requests and unapproved issues among them, 10,000 leads are left. */
const leadScale = values.quick
  ? { leads: 500, seconds: 1, rounds: 1, reads: 200, pollSeconds: 30 }
  : { leads: 18_760, seconds: 3, rounds: 5, reads: 10_000, pollSeconds: 120 };
const intakeScale = values.quick
  ? { seconds: 1, rounds: 1, people: 10_000 }
  : { seconds: 3, rounds: 5, people: 500_000 };
const slowDiskScale = values.quick ? { seconds: 1, rounds: 1 } : { seconds: 3, rounds: 5 };
const partnerScale = values.quick
  ? { directory: 10_000, rounds: 1, deletions: 3 }
  : { directory: 1_000_000, rounds: 5, deletions: 10 };
const webhookScale = values.quick
  ? { deliveries: 500, rounds: 1, memoryAfter: 5000 }
  : { deliveries: 6000, rounds: 5, memoryAfter: 20_000 };
const httpScale = values.quick ? { seconds: 1, rounds: 1 } : { seconds: 4, rounds: 5 };
const catalogScale = values.quick
  ? { artifacts: 2000, calls: 100, rounds: 1 }
  : { artifacts: 200_000, calls: 500, rounds: 5 };

const parts: Record<string, () => Promise<BenchRow[]>> = {
  leads: async () => (await import('./leads/leads.ts')).measureLeads(leadScale),
  intake: async () => (await import('./intake/intake.ts')).measureIntake(intakeScale),
  'slow-disk': async () =>
    (await import('./slow-disk/slow-disk.ts')).measureSlowDisk(slowDiskScale),
  partners: async () => (await import('./partners.ts')).measurePartners(partnerScale),
  webhooks: async () => (await import('./webhooks/webhooks.ts')).measureWebhooks(webhookScale),
  tokens: async () => (await import('./catalog/catalog-http.ts')).measureCatalogHttp(httpScale),
  catalog: async () => (await import('./catalog/catalog.ts')).measureCatalog(catalogScale),
};

const chosen = values.only?.split(',') ?? Object.keys(parts);
const rows: BenchRow[] = [];
for (const name of chosen) {
  const part = parts[name];
  if (!part) throw new Error(`there is no part ${name}: choose among ${Object.keys(parts).join()}`);
  process.stderr.write(`measuring ${name} …\n`);
  rows.push(...(await part()));
}
if (values.json) process.stdout.write(`${JSON.stringify(rows)}\n`);
else console.table(rows);
