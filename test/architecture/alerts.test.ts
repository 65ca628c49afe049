import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { takeBlock } from '../e2e/support/documents.ts';

type Rule = { alert: string; expr: string; annotations: { runbook: string } };
type Rules = { groups: { rules: Rule[] }[] };

const FOLDER = 'deploy/prometheus';
const rules = (parse(readFileSync(`${FOLDER}/alerts.yaml`, 'utf8')) as Rules).groups.flatMap(
  (group) => group.rules,
);

/** `PROMTOOL` names it where it is not on the path. `.ci/run` brings it along. */
const promtool = process.env['PROMTOOL'] ?? 'promtool';
const hasPromtool = spawnSync(promtool, ['--version']).status === 0;

/** The heading of a section as GitHub makes an anchor of it. */
function anchorsOf(document: string): string[] {
  const headings = readFileSync(document, 'utf8').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

test.each(rules)('$alert asks for metrics that are documented', ({ expr }) => {
  const documented = readFileSync('docs/operations.md', 'utf8').replaceAll('`, `…', '');
  const metrics = expr.match(/\b(?:trackport|nodejs)_[a-z0-9_]+/g) ?? [];
  expect(metrics.length + (expr.startsWith('up{') ? 1 : 0)).toBeGreaterThan(0);
  for (const metric of metrics)
    expect(documented).toContain(metric.replace(/_count$|_limit$|_bucket$/, ''));
});

test('each metric that is documented with when to alert has a rule', () => {
  const rows = readFileSync('docs/operations.md', 'utf8').matchAll(
    /^\| `(trackport_[a-z_]+)`[^|]*\|[^|]*\| (\S.*) \|$/gm,
  );
  const metrics = [...rows].map(([, metric = '']) => metric);
  expect(metrics).toHaveLength(19);
  const expressions = rules.map(({ expr }) => expr).join(' ');
  for (const metric of metrics) expect(expressions).toContain(metric);
});

test.each(rules)('$alert sends to a section that is there', ({ annotations }) => {
  const [document = '', anchor] = annotations.runbook.split('#');
  expect(existsSync(document)).toBe(true);
  if (anchor !== undefined) expect(anchorsOf(document)).toContain(anchor);
});

test.each(rules)(
  '$alert is driven by a test that expects it and one that does not',
  ({ alert }) => {
    const tests = readFileSync(`${FOLDER}/alerts.test.yaml`, 'utf8');
    expect(tests).toMatch(new RegExp(`alertname: ${alert}, exp_alerts: \\[\\]`));
    expect(tests).toMatch(new RegExp(`alertname: ${alert}\\n\\s+exp_alerts:\\n`));
  },
);

test.skipIf(!hasPromtool)('promtool accepts the rules, and they do what their tests say', () => {
  const commands = takeBlock('docs/operations.md', 'promtool check rules').trim().split('\n');
  expect(commands).toHaveLength(2);
  for (const command of commands) {
    const args = command.split(' ').slice(1);
    const { status, stdout, stderr } = spawnSync(promtool, args, { encoding: 'utf8' });
    expect([status, status === 0 ? '' : stdout + stderr]).toEqual([0, '']);
  }
});
