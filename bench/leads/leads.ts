import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { Octokit } from '@octokit/rest';
import autocannon from 'autocannon';
import { callControl, readControl } from '#sandbox/instruments/remote-controls.ts';
import { SANDBOX_ADMIN_TOKEN as TOKEN } from '#sandbox/tracker/tracker.ts';
import { output, start } from '../processes.ts';
import type { Running } from '../processes.ts';
import { median, ratioRow } from '../row.ts';
import type { BenchRow } from '../row.ts';

/** How long and how much: the full run, and a short one to see that it works. */
export type LeadBenchScale = {
  leads: number;
  seconds: number;
  rounds: number;
  reads: number;
  pollSeconds: number;
};

type World = {
  directory: string;
  configFile: string;
  tracker: Running;
  key: string;
  owner: string;
  repo: string;
};

const LATENCY_MS = 50;
const WEBHOOK_SECRET = 'bench-webhook-secret';
const LABELS = ['partner-program', 'priority: high', 'priority: low'];

/** Hot reads, tracker calls, walks, a storm of changes, start-up: every figure of reading leads. */
export async function measureLeads(scale: LeadBenchScale): Promise<BenchRow[]> {
  const world = await openWorld(scale);
  try {
    const rows: BenchRow[] = [];
    for (const measure of [measureHot, measureWalks, measureCalls, measureChanges, measureStart])
      rows.push(...(await measure(world, scale)));
    return rows;
  } finally {
    await world.tracker.stop();
    rmSync(world.directory, { recursive: true, force: true });
  }
}

async function openWorld({ leads }: LeadBenchScale): Promise<World> {
  const directory = mkdtempSync(path.join(tmpdir(), 'trackport-bench-'));
  const tracker = await start([
    'bench/tracker-process.ts',
    `--issues=${leads}`,
    '--pull-requests=0.2',
    `--latency=${LATENCY_MS}`,
    `--secret=${WEBHOOK_SECRET}`,
  ]);
  const configFile = path.join(directory, 'trackport.yaml');
  writeFileSync(
    configFile,
    [
      `store: { url: "sqlite:${directory}/trackport.db" }`,
      'tracker:',
      '  repository: acme/leads',
      `  apiUrl: ${tracker.url}`,
      `  auth: { token: ${TOKEN} }`,
      `  webhookSecrets: [${WEBHOOK_SECRET}]`,
      'leads: { approvedLabel: approved }',
      'consumers: { limitPerMinute: 1000000 }',
    ].join('\n'),
  );
  const key = await createKey(configFile);
  return { directory, configFile, tracker, key, owner: 'acme', repo: 'leads' };
}

/** The key of a consumer of its own: no measurement uses up the limit of the next one. */
async function createKey(configFile: string): Promise<string> {
  const created = await output([
    'bin/trackport.js',
    'consumer',
    'create',
    'bench',
    '--grant=leads:read',
    '--force',
    '--json',
    `--config=${configFile}`,
  ]);
  return (JSON.parse(created) as { key: string }).key;
}

const serve = ({ configFile }: World): Promise<Running> =>
  start(['bin/trackport.js', 'serve', '--config', configFile, '--port', '0']);

async function measureHot(world: World, scale: LeadBenchScale): Promise<BenchRow[]> {
  const server = await serve(world);
  try {
    const list = `${server.url}/api/v1/leads`;
    const { items } = (await read(world, list)) as { items: { id: string }[] };
    const detail = `${list}/${items[0]?.id ?? ''}`;
    return [
      ratioRow('hot list ÷ bare Fastify', await hotRatio(world, list, scale), { atLeast: 0.85 }),
      ratioRow('hot detail ÷ bare Fastify', await hotRatio(world, detail, scale), { atLeast: 0.7 }),
    ];
  } finally {
    await server.stop();
  }
}

async function hotRatio(
  world: World,
  url: string,
  { rounds, seconds }: LeadBenchScale,
): Promise<number> {
  const file = path.join(world.directory, 'bytes.json');
  writeFileSync(file, JSON.stringify(await read(world, url)));
  const bare = await start(['bench/leads/bare-server.ts', file]);
  const ratios: number[] = [];
  const key = await createKey(world.configFile);
  await load(url, key, 1);
  await load(`${bare.url}/bytes`, key, 1);
  for (let round = 0; round < rounds; round += 1) {
    const theirs = await load(`${bare.url}/bytes`, key, seconds);
    const ours = await load(url, key, seconds);
    ratios.push(ours / theirs);
  }
  await bare.stop();
  return median(ratios);
}

async function load(url: string, key: string, seconds: number): Promise<number> {
  const result = await autocannon({
    url,
    connections: 20,
    duration: seconds,
    headers: { 'x-api-key': key },
  });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${url} did not answer 200`);
  return result.requests.average;
}

async function measureWalks(world: World): Promise<BenchRow[]> {
  const server = await serve(world);
  try {
    const direct = await timed(() => directWalk(world));
    await callControl(world.tracker.url, 'calls.clear');
    const cold = await timed(() => ourWalk(world, server));
    const billed = await billedCalls(world);
    const rows = direct.result.rows;
    const fresh = await timed(() => ourWalk(world, server));
    if (cold.result !== direct.result.leads) throw new Error('the walks found different leads');
    return [
      {
        what: `billed calls of a cold full walk of ${cold.result} leads in ${rows} rows`,
        measured: String(billed),
        wanted: `= ${Math.ceil(rows / 100)}`,
        met: billed === Math.ceil(rows / 100),
      },
      ratioRow('cold full walk ÷ octokit.paginate', cold.ms / direct.ms, { atMost: 1.2 }),
      ratioRow('fresh full walk ÷ octokit.paginate', fresh.ms / direct.ms, { atMost: 0.2 }),
    ];
  } finally {
    await server.stop();
  }
}

async function directWalk(world: World): Promise<{ rows: number; leads: number }> {
  const rows = await octokitOf(world).paginate('GET /repos/{owner}/{repo}/issues', {
    owner: world.owner,
    repo: world.repo,
    labels: 'approved',
    state: 'open',
    per_page: 100,
  });
  return { rows: rows.length, leads: rows.filter((row) => !('pull_request' in row)).length };
}

async function ourWalk(world: World, server: Running): Promise<number> {
  let count = 0;
  let cursor: string | undefined;
  do {
    const query = cursor === undefined ? '' : `&cursor=${cursor}`;
    const page = (await read(world, `${server.url}/api/v1/leads?limit=50${query}`)) as {
      items: unknown[];
      pagination: { nextCursor?: string };
    };
    count += page.items.length;
    cursor = page.pagination.nextCursor;
  } while (cursor !== undefined);
  return count;
}

/** Twenty consumers with mixed filters, each reading as fast as it is answered. */
async function measureCalls(world: World, { reads }: LeadBenchScale): Promise<BenchRow[]> {
  const server = await serve(world);
  try {
    await callControl(world.tracker.url, 'calls.clear');
    await twenty(reads, (at) => read(world, `${server.url}/api/v1/leads?${ourFilter(at)}`));
    const ours = await billedCalls(world);
    await callControl(world.tracker.url, 'calls.clear');
    const octokit = octokitOf(world);
    const sample = Math.ceil(reads / 10);
    await twenty(sample, (at) => octokit.request(directQuery(world, at)));
    const direct = (await billedCalls(world)) * (reads / sample);
    return [
      {
        what: `billed calls per ${reads} mixed reads by 20 consumers (with Octokit directly)`,
        measured: `${ours} (${direct})`,
      },
    ];
  } finally {
    await server.stop();
  }
}

/** One change a second with webhooks on, while twenty consumers poll every five seconds. */
async function measureChanges(
  world: World,
  { pollSeconds, leads }: LeadBenchScale,
): Promise<BenchRow[]> {
  const server = await serve(world);
  try {
    await callControl(
      world.tracker.url,
      'addWebhook',
      `${server.url}/api/v1/webhooks/github`,
      WEBHOOK_SECRET,
    );
    await twenty(40, (at) => read(world, `${server.url}/api/v1/leads?${ourFilter(at)}`));
    await callControl(world.tracker.url, 'calls.clear');
    let polls = 0;
    for (let second = 0; second < pollSeconds; second += 1) {
      const tickAt = performance.now() + 1000;
      await change(world, second, leads);
      const due = Array.from({ length: 20 }, (_, consumer) => consumer).filter(
        (consumer) => (consumer + second) % 5 === 0,
      );
      await Promise.all(
        due.map((at) => read(world, `${server.url}/api/v1/leads?${ourFilter(at)}`)),
      );
      polls += due.length;
      await new Promise((resolve) => {
        setTimeout(resolve, Math.max(0, tickAt - performance.now()));
      });
    }
    const perHour = Math.round(((await billedCalls(world)) * 3600) / pollSeconds);
    return [
      {
        what: `billed calls an hour: a change a second, webhooks, 20 consumers polling (directly ${Math.round((polls * 3600) / pollSeconds)})`,
        measured: String(perHour),
        wanted: '< 5000',
        met: perHour < 5000,
      },
    ];
  } finally {
    await server.stop();
  }
}

async function change(world: World, second: number, leads: number): Promise<void> {
  const number = 1 + ((second * 7919) % leads);
  if (second % 4 === 0)
    await callControl(world.tracker.url, 'createIssue', {
      title: 'New lead',
      labels: ['approved'],
      body: '',
    });
  else if (second % 4 === 1)
    await callControl(world.tracker.url, 'setState', number, second % 8 === 1 ? 'closed' : 'open');
  else
    await callControl(world.tracker.url, 'relabel', number, {
      add: [LABELS[second % LABELS.length]],
    });
}

async function measureStart(world: World, { rounds }: LeadBenchScale): Promise<BenchRow[]> {
  const ours: { readyMs: number; memory: number }[] = [];
  const bare: { readyMs: number; memory: number }[] = [];
  const cache = { NODE_COMPILE_CACHE: path.join(world.directory, 'compile-cache') };
  for (let round = 0; round <= rounds + 2; round += 1) {
    for (const [list, make] of [
      [bare, () => start(['bench/leads/imports-only.ts'], cache)],
      [
        ours,
        () =>
          start(['bin/trackport.js', 'serve', '--config', world.configFile, '--port', '0'], cache),
      ],
    ] as const) {
      const running = await make();
      if (round > 0) list.push({ readyMs: running.readyMs, memory: running.residentMiB() });
      await running.stop();
    }
  }
  const ratio = (pick: (sample: { readyMs: number; memory: number }) => number) =>
    median(ours.map(pick)) / median(bare.map(pick));
  return [
    ratioRow(
      'time to ready ÷ imports and a listener',
      ratio((one) => one.readyMs),
      { atMost: 1.5 },
    ),
    ratioRow(
      'memory when ready ÷ imports and a listener',
      ratio((one) => one.memory),
      { atMost: 1.5 },
    ),
  ];
}

const FILTERS = [
  '',
  'label=partner-program',
  'label=priority:+low',
  'state=all',
  'state=closed',
  'label=priority:+high',
  'limit=20',
  'limit=100&state=all',
  'label=partner-program,priority:+medium',
];

function ourFilter(at: number): string {
  const turn = at % (FILTERS.length + 1);
  if (turn < FILTERS.length) return FILTERS[turn] ?? '';
  return `state=all&since=${sinceText()}`;
}

/** What an incremental reader asks for: from a minute before now. */
function sinceText(): string {
  return new Date(Math.floor((Date.now() - 60_000) / 1000) * 1000).toISOString();
}

function directQuery({ owner, repo }: World, at: number): string {
  const ours = new URLSearchParams(ourFilter(at));
  const labels = ['approved', ...(ours.get('label')?.split(',') ?? [])].join(',');
  const query = new URLSearchParams({
    labels,
    state: ours.get('state') ?? 'open',
    per_page: ours.get('limit') ?? '50',
  });
  const since = ours.get('since');
  if (since !== null) query.set('since', since);
  return `GET /repos/${owner}/${repo}/issues?${query.toString()}`;
}

async function twenty(total: number, task: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      while (next < total) {
        next += 1;
        await task(next);
      }
    }),
  );
}

async function timed<T>(task: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const startedAt = performance.now();
  const result = await task();
  return { result, ms: performance.now() - startedAt };
}

async function read({ key }: World, url: string): Promise<unknown> {
  const answer = await fetch(url, { headers: { 'x-api-key': key } });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return answer.json();
}

function octokitOf({ tracker }: World): Octokit {
  return new Octokit({ baseUrl: tracker.url, auth: TOKEN });
}

async function billedCalls({ tracker }: World): Promise<number> {
  const calls = await readControl<{ billed: boolean }>(tracker.url, 'calls');
  return calls.filter(({ billed }) => billed).length;
}
