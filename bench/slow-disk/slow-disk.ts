import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { output, start } from '../processes.ts';
import type { BenchRow } from '../row.ts';
import { median, ratioRow } from '../row.ts';

const FSYNC_MS = 5;
const READERS = 8;
/** A reader reads again this long after its last response: the processor must not be the limit. */
const PAUSE_MS = 5;
const WRITERS = 8;
const SECRET = 'bench-secret';
const loadScript = fileURLToPath(new URL('../intake/delivery-load.ts', import.meta.url));
const source = fileURLToPath(new URL('slow-fsync.c', import.meta.url));

export type SlowDiskBenchScale = { seconds: number; rounds: number };

type Fsyncs = { all: number; onMainThread: number };

type World = { url: string; key: string; fsyncs: () => Fsyncs };

/** Hot reads alone and beside intake, on a disk whose fsync takes 5 ms more. */
export async function measureSlowDisk(scale: SlowDiskBenchScale): Promise<BenchRow[]> {
  const what = `p99 of hot reads beside ${WRITERS} connections of deletions ÷ alone, fsync + ${FSYNC_MS} ms`;
  const folder = mkdtempSync(path.join(tmpdir(), 'trackport-bench-'));
  try {
    const library = compile(folder);
    if (library === undefined) return [{ what, measured: 'left out: there is no C compiler (cc)' }];
    return await measureWith({ folder, library, what }, scale);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Undefined without a compiler. */
function compile(folder: string): string | undefined {
  const library = path.join(folder, 'slow-fsync.so');
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl']);
    return library;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function measureWith(
  { folder, library, what }: { folder: string; library: string; what: string },
  { seconds, rounds }: SlowDiskBenchScale,
): Promise<BenchRow[]> {
  const tracker = await start(['bench/tracker-process.ts', '--issues', '1000']);
  const config = path.join(folder, 'trackport.yaml');
  writeFileSync(config, configOf(tracker.url, path.join(folder, 'trackport.db')));
  const counter = path.join(folder, 'fsyncs');
  writeFileSync(counter, Buffer.alloc(16));
  const key = await createKey(config);
  const service = await start(['bin/trackport.js', 'serve', '--config', config], {
    LD_PRELOAD: library,
    SLOW_FSYNC_MS: String(FSYNC_MS),
    SLOW_FSYNC_COUNT: counter,
  });
  const fsyncs = (): Fsyncs => {
    const counts = readFileSync(counter);
    return {
      all: Number(counts.readBigUInt64LE()),
      onMainThread: Number(counts.readBigUInt64LE(8)),
    };
  };
  try {
    const measured = await compare({ url: service.url, key, fsyncs }, { seconds, rounds });
    const onMainThread = measured.reduce((sum, one) => sum + one.onMainThread, 0);
    return [
      {
        what: 'fsyncs there that the event loop waited for',
        measured: String(onMainThread),
        wanted: '= 0',
        met: onMainThread === 0,
      },
      ratioRow(what, median(measured.map(({ p99Ratio }) => p99Ratio)), { atMost: 2 }),
      ratioRow('median of them, the same', median(measured.map(({ medianRatio }) => medianRatio)), {
        atMost: 2,
      }),
      ratioRow(
        'events that are accepted there for each fsync',
        median(measured.map(({ eventsPerFsync }) => eventsPerFsync)),
        { atLeast: 3 },
      ),
    ];
  } finally {
    await service.stop();
    await tracker.stop();
  }
}

function configOf(trackerUrl: string, file: string): string {
  return [
    'server: { port: 0 }',
    `store: { url: "sqlite:${file}" }`,
    'tracker:',
    '  repository: acme/leads',
    `  apiUrl: ${trackerUrl}`,
    '  auth: { token: sandbox-admin-token }',
    'leads: { freshFor: 1h }',
    'consumers: { limitPerMinute: 1000000 }',
    `partners: { crm-one: { scheme: hmac-sha256, secrets: ["${SECRET}"] } }`,
    '',
  ].join('\n');
}

async function createKey(config: string): Promise<string> {
  const args = ['consumer', 'create', 'bench', '--grant=leads:read', '--json', '--config', config];
  const created = await output(['bin/trackport.js', ...args]);
  return (JSON.parse(created) as { key: string }).key;
}

type Compared = {
  p99Ratio: number;
  medianRatio: number;
  eventsPerFsync: number;
  onMainThread: number;
};

async function compare(world: World, { seconds, rounds }: SlowDiskBenchScale): Promise<Compared[]> {
  await Promise.all([readFor(world, 1), sendDeletions(world.url, 1)]);
  const compared: Compared[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const alone = await readFor(world, seconds);
    const before = world.fsyncs();
    const [beside, events] = await Promise.all([
      readFor(world, seconds),
      sendDeletions(world.url, seconds),
    ]);
    const after = world.fsyncs();
    compared.push({
      p99Ratio: quantile(beside, 0.99) / quantile(alone, 0.99),
      medianRatio: quantile(beside, 0.5) / quantile(alone, 0.5),
      eventsPerFsync: events / (after.all - before.all),
      onMainThread: after.onMainThread - before.onMainThread,
    });
  }
  return compared;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
}

/** Milliseconds that each read took. */
async function readFor({ url, key }: World, seconds: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: READERS });
  const times: number[] = [];
  const endsAt = performance.now() + seconds * 1000;
  await Promise.all(
    Array.from({ length: READERS }, async () => {
      while (performance.now() < endsAt) {
        const startedAt = performance.now();
        await readOnce(`${url}/api/v1/leads`, { agent, headers: { 'x-api-key': key } });
        times.push(performance.now() - startedAt);
        await sleep(PAUSE_MS);
      }
    }),
  );
  agent.destroy();
  return times;
}

function readOnce(
  url: string,
  options: { agent: Agent; headers: Record<string, string> },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(url, options, (response) => {
      if (response.statusCode !== 200) reject(new Error(`a read got ${response.statusCode}`));
      response.resume().once('end', resolve);
    });
    sent.once('error', reject).end();
  });
}

/** How many were accepted. */
async function sendDeletions(url: string, seconds: number): Promise<number> {
  const args = [loadScript, new URL(url).port, WRITERS, seconds].map(String);
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const { calls, refused } = JSON.parse(stdout) as { calls: number; refused: number };
  if (refused > 0) throw new Error(`${refused} deliveries were not accepted`);
  return calls;
}
