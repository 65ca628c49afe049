/** `npm run bench`: every figure, in one table with a column for each store. CONTRIBUTING.md says how they are read. */
import { systemClock } from '#shared/clock.ts';
import { exitAtSignals } from '../test/support/at-exit.ts';
import { groupsOf } from './groups.ts';
import { readOptions, refuse, whole } from './options.ts';
import { createMeasuring, showOnStandardError } from './progress.ts';
import { renderTable, summarize } from './report.ts';
import type { BenchRow } from './row.ts';

const USAGE = `npm run bench -- [--quick] [--only PATTERN] [--runs N] [--json]

  --quick         a short run, to see that all of it works
  --only PATTERN  groups whose names match a regular expression: ${Object.keys(groupsOf(true)).join(', ')}
  --runs N        measures all of it N times: least, middle, greatest and spread of each figure
  --json          rows for machines
`;

const values = readOptions(USAGE, {
  quick: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  only: { type: 'string', default: '' },
  runs: { type: 'string', default: '1' },
});
const runs = whole('runs', values.runs);

const groups = Object.entries(groupsOf(values.quick));
const pattern = toPattern(values.only);
const chosen = groups.filter(([name]) => pattern.test(name));
if (chosen.length === 0) refuse('--only picks none of the groups');

exitAtSignals();
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

function toPattern(text: string): RegExp {
  try {
    return new RegExp(text);
  } catch {
    return refuse('--only wants a regular expression');
  }
}
