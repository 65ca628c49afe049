import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SANDBOX_ADMIN_TOKEN as TOKEN } from '#sandbox/tracker/tracker.ts';
import { output, start } from '../processes.ts';
import type { Running } from '../processes.ts';
import { median, ratioRow } from '../row.ts';
import type { BenchRow } from '../row.ts';

const SECRET = 'bench-webhook-secret';
const CONNECTIONS = 10;

export type WebhookBenchScale = {
  /** Deliveries of one round. */
  deliveries: number;
  rounds: number;
  /** Deliveries after which memory is looked at. */
  memoryAfter: number;
};

const kinds = [
  { kind: 'distinct', what: 'as many issues as deliveries', atLeast: 0.5 },
  { kind: 'repeated', what: 'one issue again and again', atLeast: 0.9 },
  { kind: 'foreign', what: 'a repository that is not ours', atLeast: 0.9 },
] as const;

/** A storm of the tracker's webhook, against Probot with a handler that does nothing. */
export async function measureWebhooks(scale: WebhookBenchScale): Promise<BenchRow[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'trackport-bench-'));
  const tracker = await start(['bench/tracker-process.ts', '--issues', '1000']);
  try {
    return [
      ...(await measureStorms(folder, tracker, scale)),
      await measureMemory(folder, tracker, scale),
    ];
  } finally {
    await tracker.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureStorms(
  folder: string,
  tracker: Running,
  { deliveries, rounds }: WebhookBenchScale,
): Promise<BenchRow[]> {
  const probot = await start(['bench/webhooks/probot-server.ts', SECRET]);
  const service = await serve(path.join(folder, 'storm'), tracker);
  const rows: BenchRow[] = [];
  let first = 2000;
  const rate = async (url: string, kind: string): Promise<number> => {
    first += deliveries;
    return load({ url, kind, first, deliveries });
  };
  const ours = `${service.url}/api/v1/webhooks/github`;
  const theirs = `${probot.url}/webhook`;
  try {
    for (const url of [ours, theirs]) await rate(url, 'foreign');
    for (const { kind, what, atLeast } of kinds) {
      const ratios: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const probotRate = await rate(theirs, kind);
        ratios.push((await rate(ours, kind)) / probotRate);
      }
      rows.push(ratioRow(`webhook: ${what} ÷ Probot, empty handler`, median(ratios), { atLeast }));
    }
    return rows;
  } finally {
    await service.stop();
    await probot.stop();
  }
}

async function measureMemory(
  folder: string,
  tracker: Running,
  { memoryAfter }: WebhookBenchScale,
): Promise<BenchRow> {
  const service = await serve(path.join(folder, 'memory'), tracker);
  try {
    const url = `${service.url}/api/v1/webhooks/github`;
    for (let sent = 0; sent < memoryAfter; sent += 5000)
      await load({ url, kind: 'distinct', first: 2000 + sent, deliveries: 5000 });
    const memory = service.residentMiB();
    return {
      what: `resident memory after ${memoryAfter.toLocaleString('en')} webhooks of as many issues`,
      measured: `${memory.toFixed(0)} MiB`,
      wanted: '≤ 200 MB',
      met: memory * 1.048576 <= 200,
    };
  } finally {
    await service.stop();
  }
}

/** A service whose directory is complete and whose cache is warm. */
async function serve(folder: string, tracker: Running): Promise<Running> {
  const config = `${folder}.yaml`;
  writeFileSync(
    config,
    [
      'server: { port: 0 }',
      `store: { url: "sqlite:${folder}.db" }`,
      'tracker:',
      '  repository: acme/leads',
      `  apiUrl: ${tracker.url}`,
      `  auth: { token: ${TOKEN} }`,
      `  webhookSecrets: [${SECRET}]`,
      'partners: { crm-one: { scheme: hmac-sha256, secrets: [bench-secret-of-crm-one] } }',
    ].join('\n'),
  );
  const create = ['bin/trackport.js', 'consumer', 'create', 'bench', '--grant=leads:read'];
  const created = await output([...create, '--json', `--config=${config}`]);
  const { key } = JSON.parse(created) as { key: string };
  const service = await start(['bin/trackport.js', 'serve', '--config', config]);
  await untilDirectoryIsComplete(service.url);
  for (const query of ['', '?state=all', '?state=closed', '?label=partner-program', '?limit=100'])
    await fetch(`${service.url}/api/v1/leads${query}`, { headers: { 'x-api-key': key } });
  return service;
}

async function untilDirectoryIsComplete(url: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${url}/readyz`);
    const { checks } = (await answer.json()) as { checks: Record<string, { state: string }> };
    if (checks['directory']?.state === 'complete') return;
    await sleep(20);
  }
}

type Load = { url: string; kind: string; first: number; deliveries: number };

/** Deliveries per second. */
async function load({ url, kind, first, deliveries }: Load): Promise<number> {
  const args = [url, SECRET, kind, deliveries, CONNECTIONS, first].map(String);
  const sent = JSON.parse(await output(['bench/webhooks/webhook-load.ts', ...args])) as {
    calls: number;
    refused: number;
    seconds: number;
  };
  if (sent.refused > 0) throw new Error(`${sent.refused} deliveries were not accepted`);
  return sent.calls / sent.seconds;
}
