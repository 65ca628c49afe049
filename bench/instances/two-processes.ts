import { availableParallelism } from 'node:os';
import { type BenchRow, median } from '../row.ts';
import type { BenchEngine } from '../stores.ts';
import { inBareServers, type Side } from './bare-servers.ts';
import { hotPaths, inFleet, processorMsOf, readAll } from './fleet.ts';

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

/** One and two processes of the service, then one and two of bare Fastify. */
type Round = { one: Sample; two: Sample; bareOne: Sample; bareTwo: Sample };

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
    const load = { paths: await hotPaths(fleet), key: fleet.key };
    const one = { services: fleet.services.slice(0, 1), load };
    const two = { services: fleet.services.slice(1), load };
    return inBareServers({ ...one, folder: engine.folder, more: 2 }, async (bareOne, bareTwo) => {
      for (const side of [one, bareOne]) await sampleOf(side, 1, { requests: WARM_UP_READS });
      for (const side of [two, bareTwo]) await sampleOf(side, 2, { requests: 2 * WARM_UP_READS });
      const samples: Round[] = [];
      for (let round = 0; round < rounds; round += 1)
        samples.push({
          one: await sampleOf(one, 1, { seconds }),
          two: await sampleOf(two, 2, { seconds }),
          bareOne: await sampleOf(bareOne, 1, { seconds }),
          bareTwo: await sampleOf(bareTwo, 2, { seconds }),
        });
      return rowsOf(samples);
    });
  });
}

async function sampleOf({ services, load }: Side, processes: 1 | 2, limit: Limit): Promise<Sample> {
  const urls = services.map(({ url }) => url);
  const before = processorMsOf(services);
  const reads = { ...load, ...limit, urls, connections: CONNECTIONS * processes };
  const { calls, seconds: took, processorMs } = await readAll(reads);
  const ownMs = (processorMsOf(services) - before) / calls;
  return { rate: calls / took, ownMs, loadMs: processorMs / calls };
}

function rowsOf(rounds: readonly Round[]): BenchRow[] {
  const cores = availableParallelism();
  const isFree = cores >= CORES_NEEDED;
  const middle = (pick: (round: Round) => number): number => median(rounds.map(pick));
  const mostOf = ({ one, two }: Round): number =>
    Math.min(2, (cores * one.ownMs) / (two.ownMs + two.loadMs));
  const times = [middle(({ two }) => two.ownMs), middle(({ two }) => two.loadMs)];
  const bare = middle(({ bareOne, bareTwo }) => bareOne.ownMs / bareTwo.ownMs).toFixed(2);
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
      note: `twice this is what two free cores can serve: ≥ ${WANTED} is wanted there; two of bare Fastify, which share nothing, ÷ one: ${bare}`,
    },
  ];
}
