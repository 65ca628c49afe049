/** `npm run bench`: every figure, in one table with a column for each store. CONTRIBUTING.md says how they are read. */
import { exitAtSignals } from '../test/support/at-exit.ts';
import { groupsOf } from './groups.ts';
import { readOptions, refuse } from './options.ts';
import { renderTable } from './report.ts';
import type { BenchRow } from './row.ts';

const USAGE = `npm run bench -- [--quick] [--only PATTERN]

  --quick         a short run, to see that all of it works
  --only PATTERN  groups whose names match a regular expression: ${Object.keys(groupsOf(true)).join(', ')}
`;

const values = readOptions(USAGE, {
  quick: { type: 'boolean', default: false },
  only: { type: 'string', default: '' },
});
const pattern = toPattern(values.only);
const chosen = Object.entries(groupsOf(values.quick)).filter(([name]) => pattern.test(name));
if (chosen.length === 0) refuse('--only picks none of the groups');

exitAtSignals();
const rows: BenchRow[] = [];
for (const [at, [name, measure]] of chosen.entries()) {
  process.stderr.write(`${at + 1} of ${chosen.length}: ${name}\n`);
  rows.push(...(await measure()));
}
process.stdout.write(renderTable(rows));

function toPattern(text: string): RegExp {
  try {
    return new RegExp(text);
  } catch {
    return refuse('--only wants a regular expression');
  }
}
