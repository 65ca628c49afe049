/**
 * `npm run bench`: every figure, in one table with a column for each store. `--quick` is a short run
 * to see that all of it works; `--only PATTERN` picks groups whose names match a regular expression;
 * `--runs N` measures all of it N times and shows least, middle, greatest and spread of each figure;
 * `--json` prints rows for machines. CONTRIBUTING.md says how the figures are to be read.
 */
import { parseArgs } from 'node:util';
import { systemClock } from '#shared/clock.ts';
import { groupsOf } from './groups.ts';
import { createMeasuring, showOnStandardError } from './progress.ts';
import { renderTable, summarize } from './report.ts';
import type { BenchRow } from './row.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    runs: { type: 'string', default: '1' },
  },
});
const runs = Number(values.runs);
if (!Number.isInteger(runs) || runs < 1) throw new Error('--runs takes a whole number from 1');

const groups = Object.entries(groupsOf(values.quick));
const pattern = new RegExp(values.only);
const chosen = groups.filter(([name]) => pattern.test(name));
if (chosen.length === 0)
  throw new Error(`--only picks nothing of ${groups.map(([name]) => name).join(', ')}`);

const inTurn = createMeasuring({
  total: chosen.length * runs,
  clock: systemClock,
  onProgress: showOnStandardError(),
});
const measured: BenchRow[][] = [];
for (let run = 1; run <= runs; run += 1) {
  const rows: BenchRow[] = [];
  for (const [name, measure] of chosen) {
    const label = runs > 1 ? `${name}, run ${run} of ${runs}` : name;
    rows.push(...(await inTurn(label, measure)));
  }
  measured.push(rows);
}
const summaries = summarize(measured);
process.stdout.write(values.json ? `${JSON.stringify(summaries)}\n` : renderTable(summaries));
