import { partners } from '../partner.ts';
import { output, type Running, start } from '../processes.ts';
import { type BenchRow, median } from '../row.ts';
import { createKey, serve, untilDirectoryIsComplete, writeConfig } from '../service.ts';
import type { BenchEngine } from '../stores.ts';

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
export async function measureWebhooks(
  engine: BenchEngine,
  scale: WebhookBenchScale,
): Promise<BenchRow[]> {
  const tracker = await start(['bench/tracker-process.ts', '--issues', '1000']);
  try {
    return [
      ...(await measureStorms(engine, tracker, scale)),
      await measureMemory(engine, tracker, scale),
    ];
  } finally {
    await tracker.stop();
  }
}

async function measureStorms(
  engine: BenchEngine,
  tracker: Running,
  { deliveries, rounds }: WebhookBenchScale,
): Promise<BenchRow[]> {
  const probot = await start(['bench/webhooks/probot-server.ts', SECRET]);
  const service = await startService(engine, tracker);
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
      rows.push({
        what: `webhook: ${what} ÷ Probot, empty handler`,
        value: median(ratios),
        wanted: { atLeast },
        source: `raw sockets of another process, ${CONNECTIONS} connections, in turns`,
      });
    }
    return rows;
  } finally {
    await service.stop();
    await probot.stop();
  }
}

async function measureMemory(
  engine: BenchEngine,
  tracker: Running,
  { memoryAfter }: WebhookBenchScale,
): Promise<BenchRow> {
  const service = await startService(engine, tracker);
  try {
    const url = `${service.url}/api/v1/webhooks/github`;
    for (let sent = 0; sent < memoryAfter; sent += 5000)
      await load({ url, kind: 'distinct', first: 2000 + sent, deliveries: 5000 });
    return {
      what: `resident memory after ${memoryAfter.toLocaleString('en')} webhooks of as many issues`,
      value: service.residentMiB(),
      unit: 'MiB',
      wanted: { atMost: 219.3 }, // 230 MB
      source: '/proc/PID/status; with the memory limit that the bench itself has',
    };
  } finally {
    await service.stop();
  }
}

/** A service whose directory is complete and whose cache is warm. */
async function startService(
  { folder, newStore }: BenchEngine,
  { url: trackerUrl }: Running,
): Promise<Running> {
  const settings = { partners, tracker: { webhookSecrets: [SECRET] } };
  const config = writeConfig(folder, { storeUrl: await newStore(), trackerUrl, settings });
  const key = await createKey(config);
  const service = await serve(config);
  await untilDirectoryIsComplete(service.url);
  for (const query of ['', '?state=all', '?state=closed', '?label=partner-program', '?limit=100'])
    await fetch(`${service.url}/api/v1/leads${query}`, { headers: { 'x-api-key': key } });
  return service;
}

type Load = { url: string; kind: string; first: number; deliveries: number };

/** Deliveries per second. */
export async function load({ url, kind, first, deliveries }: Load): Promise<number> {
  const args = [url, SECRET, kind, deliveries, CONNECTIONS, first].map(String);
  const sent = JSON.parse(await output(['bench/webhooks/webhook-load.ts', ...args])) as {
    calls: number;
    refused: number;
    seconds: number;
  };
  if (sent.refused > 0) throw new Error(`${sent.refused} deliveries were not accepted`);
  return sent.calls / sent.seconds;
}
