import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { untilDirectoryIsComplete } from '../../test/support/directory-complete.ts';
import { Agent, request } from 'node:http';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { scratchFolder } from '../../test/support/at-exit.ts';
import { compileFsync } from '../../test/torture/power/disk/preload.ts';
import { partners } from '../partner.ts';
import { output } from '../processes.ts';
import { type BenchRow, median, type StoreName } from '../row.ts';
import { createKey, serve, startTracker, writeConfig } from '../service.ts';
import { type BenchEngine, onPostgres, onSqlite } from '../stores.ts';

const FSYNC_MS = 5;
const READERS = 8;
/** A reader reads again this long after its last response: the processor must not be the limit. */
const PAUSE_MS = 5;
const WRITERS = 8;

export type SlowDiskBenchScale = { seconds: number; rounds: number };

type Fsyncs = { all: number; onMainThread: number };

type World = { url: string; key: string; fsyncs: () => Fsyncs };

/** Hot reads alone and beside intake, on a disk whose fsync takes 5 ms more. */
export async function measureSlowDisk(scale: SlowDiskBenchScale): Promise<BenchRow[]> {
  using folder = scratchFolder('bench');
  const slow = slowFsync(folder.path);
  if (slow === undefined) return [leftOut('there is no C compiler (cc)')];
  return [
    ...(await onSqlite((engine) => measureOn(engine, slow, scale))),
    ...(await measureOnPostgres(slow, scale)),
  ];
}

const what = `p99 of hot reads beside ${WRITERS} connections of deletions ÷ alone, fsync + ${FSYNC_MS} ms`;

function leftOut(note: string): BenchRow {
  return { what, value: undefined, source: '', note };
}

/** There the database waits for the disk, and no service of ours does. */
async function measureOnPostgres(slow: SlowFsync, scale: SlowDiskBenchScale): Promise<BenchRow[]> {
  if (process.env['TRACKPORT_BENCH_POSTGRES_URL'] !== undefined)
    return [
      { ...leftOut('the disk of a server elsewhere cannot be made slow'), store: 'PostgreSQL' },
    ];
  return onPostgres((engine) => measureOn(engine, slow, scale), slow);
}

/** Slows down the disk of a process, and counts. */
type SlowFsync = { environment: NodeJS.ProcessEnv; fsyncs: () => Fsyncs };

/** Undefined without a compiler. The server of the bench runs as another user, who must read this. */
function slowFsync(folder: string): SlowFsync | undefined {
  chmodSync(folder, 0o755);
  const library = compileFsync(folder);
  if (library === undefined) return undefined;
  const counter = path.join(folder, 'fsyncs');
  writeFileSync(counter, Buffer.alloc(16));
  chmodSync(counter, 0o666);
  return {
    environment: {
      LD_PRELOAD: library,
      FSYNC_MS: String(FSYNC_MS),
      FSYNC_COUNT: counter,
    },
    fsyncs: () => {
      const counts = readFileSync(counter);
      return {
        all: Number(counts.readBigUInt64LE()),
        onMainThread: Number(counts.readBigUInt64LE(8)),
      };
    },
  };
}

async function measureOn(
  { name, folder, newStore }: BenchEngine,
  { environment, fsyncs }: SlowFsync,
  { seconds, rounds }: SlowDiskBenchScale,
): Promise<BenchRow[]> {
  const tracker = await startTracker(1000);
  const config = writeConfig(folder, {
    storeUrl: await newStore(),
    trackerUrl: tracker.url,
    settings: { partners, leads: { freshFor: '1h' } },
  });
  const key = await createKey(config);
  const service = await serve(config, name === 'SQLite' ? environment : {});
  try {
    await untilDirectoryIsComplete(service.url);
    const measured = await compare({ url: service.url, key, fsyncs }, { seconds, rounds });
    return rowsOf(measured, name);
  } finally {
    await service.stop();
    await tracker.stop();
  }
}

function rowsOf(measured: readonly Compared[], name: StoreName): BenchRow[] {
  const source = `clock of ${READERS} readers that pause ${PAUSE_MS} ms`;
  const onMainThread = measured.reduce((sum, one) => sum + one.onMainThread, 0);
  const middle = (pick: (one: Compared) => number): number => median(measured.map(pick));
  const atMostTwice = { wanted: { atMost: 2 }, source };
  return [
    { what, value: middle(({ p99Ratio }) => p99Ratio), ...atMostTwice },
    { what: 'median of them, the same', value: middle((one) => one.medianRatio), ...atMostTwice },
    {
      what: 'events that are accepted there for each fsync',
      value: middle(({ eventsPerFsync }) => eventsPerFsync),
      wanted: { atLeast: 3 },
      source: 'preloaded fdatasync',
    },
    ...(name === 'SQLite'
      ? [
          {
            what: 'fsyncs there that the event loop waited for',
            value: onMainThread,
            wanted: { exactly: 0 },
            source: 'preloaded fdatasync',
          },
        ]
      : []),
  ];
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

/** Returns the number of accepted deletions. */
async function sendDeletions(url: string, seconds: number): Promise<number> {
  const args = ['bench/intake/delivery-load.ts', new URL(url).port, WRITERS, seconds].map(String);
  const { calls, refused } = JSON.parse(await output(args)) as { calls: number; refused: number };
  if (refused > 0) throw new Error(`${refused} deliveries were not accepted`);
  return calls;
}
