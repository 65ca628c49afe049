import { availableParallelism } from 'node:os';
import { median } from '../row.ts';
import type { BenchRow } from '../row.ts';
import type { BenchEngine } from '../stores.ts';
import { hotPaths, inFleet, readAll } from './fleet.ts';
import type { Fleet } from './fleet.ts';

export type ProcessScale = { seconds: number; rounds: number };

type Limit = { seconds: number } | { requests: number };

/** For each process, so that one of two has as much to do at once as one alone. */
const CONNECTIONS = 32;
/** For each process: by then everything that is hot is compiled. */
const WARM_UP_READS = 30_000;
const WANTED = 1.7;
/** Two processes and the load need one core each; with fewer the load takes from what is measured. */
const CORES_NEEDED = 3;

/** One load on one service, as it went. */
type Sample = {
  /** Reads a second. */
  rate: number;
  /** Processor time of the service in ms for each read. */
  ownMs: number;
  /** The same of the load. */
  loadMs: number;
};

/**
 * Hot reads by two processes, against one: a second as they come, and for each second of processor
 * time, which the load on the same cores does not change.
 */
export async function measureTwoProcesses(
  engine: BenchEngine,
  { seconds, rounds }: ProcessScale,
): Promise<BenchRow[]> {
  const options = { issues: 1000, instances: [[], ['--processes', '2']], freshFor: '1h' };
  return inFleet(engine, options, async (fleet) => {
    const paths = await hotPaths(fleet);
    const sample = (processes: 1 | 2, limit: Limit): Promise<Sample> =>
      sampleOf(fleet, { processes, paths, limit });
    for (const processes of [1, 2] as const)
      await sample(processes, { requests: WARM_UP_READS * processes });
    const pairs: { one: Sample; two: Sample }[] = [];
    for (let round = 0; round < rounds; round += 1)
      pairs.push({ one: await sample(1, { seconds }), two: await sample(2, { seconds }) });
    return rowsOf(pairs);
  });
}

async function sampleOf(
  { services, key }: Fleet,
  { processes, paths, limit }: { processes: 1 | 2; paths: string[]; limit: Limit },
): Promise<Sample> {
  const service = services[processes - 1];
  if (!service) throw new Error(`there is no service with ${processes} processes`);
  const before = service.processorMs();
  const connections = CONNECTIONS * processes;
  const load = { urls: [service.url], paths, key, connections, ...limit };
  const { calls, seconds: took, processorMs } = await readAll(load);
  const ownMs = (service.processorMs() - before) / calls;
  return { rate: calls / took, ownMs, loadMs: processorMs / calls };
}

function rowsOf(pairs: readonly { one: Sample; two: Sample }[]): BenchRow[] {
  const cores = availableParallelism();
  const isFree = cores >= CORES_NEEDED;
  const middle = (pick: (pair: { one: Sample; two: Sample }) => number): number =>
    median(pairs.map(pick));
  const mostOf = ({ one, two }: { one: Sample; two: Sample }): number =>
    Math.min(2, (cores * one.ownMs) / (two.ownMs + two.loadMs));
  const times = [middle(({ two }) => two.ownMs), middle(({ two }) => two.loadMs)];
  const shared = `${cores} cores, which the load shares: it takes ${times[1]?.toFixed(3)} ms beside ${times[0]?.toFixed(3)} ms of the service for each read, so that at most ${middle(mostOf).toFixed(2)} can be seen here`;
  return [
    {
      what: 'hot reads a second, two processes ÷ one, load on the same machine',
      value: middle(({ one, two }) => two.rate / one.rate),
      ...(isFree ? { wanted: { atLeast: WANTED } } : { note: shared }),
      source: `raw sockets of another process, ${CONNECTIONS} connections for each, list and detail`,
    },
    {
      what: 'hot reads for each second of processor time, two processes ÷ one',
      value: middle(({ one, two }) => one.ownMs / two.ownMs),
      wanted: { atLeast: WANTED / 2 },
      source: '/proc/PID/stat of the service',
      note: `twice this is what two free cores can serve: ≥ ${WANTED} is wanted there`,
    },
  ];
}
