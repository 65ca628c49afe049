/** The dashboard and the alert rules ask in good PromQL, and for what a running service tells. */
import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { temporaryFolder } from '../../support/folder.ts';
import { listening, trackport } from '../support/process.ts';

type Panel = { title: string; targets?: { expr: string }[] };
type Dashboard = { panels: Panel[]; templating: { list: { name: string; query: unknown }[] } };
type Rules = { groups: { rules: { alert: string; expr: string }[] }[] };

const dashboard = JSON.parse(readFileSync('deploy/grafana/trackport.json', 'utf8')) as Dashboard;
const rules = parse(readFileSync('deploy/prometheus/alerts.yaml', 'utf8')) as Rules;

const asked = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ by: title, expr })),
  ),
  ...rules.groups.flatMap((group) => group.rules.map(({ alert, expr }) => ({ by: alert, expr }))),
];
/** Grafana asks it for the values that a variable of the dashboard can have. */
const variables = dashboard.templating.list.flatMap(({ name, query }) => {
  const [, selector] = /^label_values\((.+), \w+\)$/.exec(queryOf(query)) ?? [];
  return selector === undefined ? [] : [{ by: `$${name}`, expr: selector }];
});
/** Prometheus makes them itself. */
const MADE_BY_PROMETHEUS: ReadonlySet<string> = new Set(['ALERTS', 'up']);

function queryOf(query: unknown): string {
  return typeof query === 'string' ? query : (query as { query: string }).query;
}

/** Names and mistakes of an expression, once Grafana has put its step in. */
function look(expr: string): { names: string[]; mistakes: string[] } {
  const text = expr.replaceAll('$__rate_interval', '5m');
  const found = { names: [] as string[], mistakes: [] as string[] };
  parser.parse(text).iterate({
    enter: ({ type, from, to, node }) => {
      if (type.isError) found.mistakes.push(text.slice(from));
      if (type.name === 'Identifier' && node.parent?.name === 'VectorSelector')
        found.names.push(text.slice(from, to));
    },
  });
  return found;
}

/** The names of the series that a service which just started tells of, or will as soon as there are any. */
async function servedBy(url: string): Promise<ReadonlySet<string>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const families = text.matchAll(/^# TYPE (\w+) (\w+)$/gm);
  return new Set(
    [...families].flatMap(([, name = '', kind = '']) =>
      (kind === 'histogram' ? ['_bucket', '_count', '_sum'] : ['']).map((end) => name + end),
    ),
  );
}

test('every variable and more than a panel of each kind is looked at', () => {
  expect(asked.length).toBeGreaterThan(40);
  expect(variables.map(({ by }) => by)).toEqual(['$job', '$instance']);
});

test.each([...asked, ...variables])('$by asks in good PromQL: $expr', ({ expr }) => {
  const { names, mistakes } = look(expr);
  expect(mistakes).toEqual([]);
  expect(names).not.toEqual([]);
});

test('each metric that is asked for is one that a running service has', async () => {
  const environment = { TMPDIR: temporaryFolder() };
  const sandbox = trackport(['serve', '--port', '0'], { environment });
  const served = await servedBy(await listening(sandbox));
  const unknown = [...asked, ...variables].flatMap(({ by, expr }) => {
    const names = look(expr).names.filter(
      (name) => !served.has(name) && !MADE_BY_PROMETHEUS.has(name),
    );
    return names.map((name) => `${by}: ${name}`);
  });
  expect(unknown).toEqual([]);
});
