/**
 * `npm run torture -- --minutes 5 [--seed 1]`: kills the program at random moments under load,
 * against a tracker that fails 30 % of the calls, while salespeople edit leads, and shows what came of
 * every deletion.
 */
import { parseArgs } from 'node:util';
import { torture } from '../test/torture/torture.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const isTerminal = process.stderr.isTTY;
const report = await torture({
  seconds: Number(values.minutes) * 60,
  seed: Number(values.seed),
  onProgress: (line) => {
    process.stderr.write(isTerminal ? `\r\x1b[K${line}` : `${line}\n`);
  },
});
if (isTerminal) process.stderr.write('\n');
const { violations, ...figures } = report;
console.table({ seed: Number(values.seed), ...figures, violations: violations.length });
for (const violation of violations) console.error(violation);
process.exit(violations.length === 0 ? 0 : 1);
