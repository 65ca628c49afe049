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
import { type BenchRow, type StoreName } from '../row.ts';
import { createKey, serve, startTracker, writeConfig } from '../service.ts';
import { type BenchEngine, onPostgres, onSqlite } from '../stores.ts';

const FSYNC_MS = 20;
const READERS = 8;
/** A reader reads again this long after its last response: the processor must not be the limit. */
const PAUSE_MS = 5;
const WRITERS = 8;

export type SlowDiskBenchScale = { seconds: number; rounds: number };

type Fsyncs = { all: number; onMainThread: number };

type World = { url: string; key: string; fsyncs: () => Fsyncs };

/** Hot reads alone and beside intake, on a disk whose fsync takes 20 ms more. */
export async function measureSlowDisk(scale: SlowDiskBenchScale): Promise<BenchRow[]> {
  using folder = scratchFolder('bench');
  const slow = slowFsync(folder.path);
  if (slow === undefined) return [leftOut('there is no C compiler (cc)')];
  return [
    ...(await onSqlite((engine) => measureOn(engine, slow, scale))),
    ...(await measureOnPostgres(slow, scale)),
  ];
}

const what = `hot reads beside ${WRITERS} connections of deletions, fsync + ${FSYNC_MS} ms: p99`;

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

function rowsOf(measured: Compared, name: StoreName): BenchRow[] {
  const source = `clock of ${READERS} readers that pause ${PAUSE_MS} ms`;
  return [
    {
      what: `${what} − alone, in fsyncs`,
      value: measured.p99Growth, // 1 when a reader waits for one
      wanted: { atMost: 0.5 },
      source,
    },
    { what: 'the same ÷ alone', value: measured.p99Ratio, wanted: { atMost: 2 }, source },
    { what: 'median ÷ alone', value: measured.medianRatio, wanted: { atMost: 1.2 }, source },
    {
      what: 'events that are accepted there for each fsync',
      value: measured.eventsPerFsync,
      wanted: { atLeast: 2 }, // those of acceptance take turns with the worker's
      source: 'preloaded fdatasync',
    },
    ...(name === 'SQLite'
      ? [
          {
            what: 'fsyncs there that the event loop waited for',
            value: measured.onMainThread,
            wanted: { exactly: 0 },
            source: 'preloaded fdatasync',
          },
        ]
      : []),
  ];
}

type Compared = {
  p99Growth: number;
  p99Ratio: number;
  medianRatio: number;
  eventsPerFsync: number;
  onMainThread: number;
};

/** Alone and beside in turns, and all rounds together: a p99 of one round is a handful of reads. */
async function compare(world: World, { seconds, rounds }: SlowDiskBenchScale): Promise<Compared> {
  await Promise.all([readFor(world, 1), sendDeletions(world.url, 1)]);
  const alone: number[] = [];
  const beside: number[] = [];
  const fsyncs = { all: 0, onMainThread: 0 };
  let events = 0;
  for (let round = 0; round < rounds; round += 1) {
    alone.push(...(await readFor(world, seconds)));
    const before = world.fsyncs();
    const [times, accepted] = await Promise.all([
      readFor(world, seconds),
      sendDeletions(world.url, seconds),
    ]);
    const after = world.fsyncs();
    beside.push(...times);
    events += accepted;
    fsyncs.all += after.all - before.all;
    fsyncs.onMainThread += after.onMainThread - before.onMainThread;
  }
  return {
    p99Growth: (quantile(beside, 0.99) - quantile(alone, 0.99)) / FSYNC_MS,
    p99Ratio: quantile(beside, 0.99) / quantile(alone, 0.99),
    medianRatio: quantile(beside, 0.5) / quantile(alone, 0.5),
    eventsPerFsync: events / fsyncs.all,
    onMainThread: fsyncs.onMainThread,
  };
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
