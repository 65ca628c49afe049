import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

type Rule = { alert: string; annotations: { runbook: string } };
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

test.each(rules)('$alert sends to a section that is there', ({ annotations }) => {
  const [document = '', anchor] = annotations.runbook.split('#');
  expect(existsSync(document)).toBe(true);
  if (anchor !== undefined) expect(anchorsOf(document)).toContain(anchor);
});

test.skipIf(!hasPromtool)('promtool accepts the rules, and they do what their tests say', () => {
  for (const args of [
    ['check', 'rules', `${FOLDER}/alerts.yaml`],
    ['test', 'rules', `${FOLDER}/alerts.test.yaml`],
  ]) {
    const { status, stdout, stderr } = spawnSync(promtool, args, { encoding: 'utf8' });
    expect([status, status === 0 ? '' : stdout + stderr]).toEqual([0, '']);
  }
});
