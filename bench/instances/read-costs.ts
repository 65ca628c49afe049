import { median } from '../row.ts';
import type { BenchRow } from '../row.ts';
import { inBareServers } from './bare-servers.ts';
import type { Side } from './bare-servers.ts';
import { hotPaths, processorMsOf, readAll } from './fleet.ts';
import type { Fleet } from './fleet.ts';

/** As many as one instance has, or each of three. */
const CONNECTIONS = 30;
const SOURCE = '/proc/PID/stat of all instances';

type ReadScale = { reads: number; warmUpReads: number; rounds: number; folder: string };

/** Processor time of one read in µs. */
type Costs = {
  one: number;
  threeTimes: number;
  spread: number;
  bareOne: number;
  bareSpread: number;
};

/**
 * Hot reads by three instances, against one: with three times the connections, so that each has as
 * much to do at once as one alone, and with the same ones spread. A process that has less to do at
 * once wakes more often for it, whatever it is: three of bare Fastify, which share nothing, show it.
 */
export async function compareReads(
  fleets: { one: Fleet; three: Fleet },
  scale: ReadScale,
): Promise<BenchRow[]> {
  const one = await sideOf(fleets.one);
  const three = await sideOf(fleets.three);
  return inBareServers({ ...one, folder: scale.folder, more: 3 }, async (bareOne, bareThree) => {
    const cost = (side: Side, connections: number, reads = scale.reads): Promise<number> =>
      costOf(side, connections, reads);
    for (const side of [one, three, bareOne, bareThree])
      await cost(side, CONNECTIONS * side.services.length, scale.warmUpReads);
    const rounds: Costs[] = [];
    for (let round = 0; round < scale.rounds; round += 1)
      rounds.push({
        one: await cost(one, CONNECTIONS),
        threeTimes: await cost(three, 3 * CONNECTIONS),
        spread: await cost(three, CONNECTIONS),
        bareOne: await cost(bareOne, CONNECTIONS),
        bareSpread: await cost(bareThree, CONNECTIONS),
      });
    return rowsOf(rounds);
  });
}

function rowsOf(rounds: readonly Costs[]): BenchRow[] {
  const middle = (pick: (costs: Costs) => number): number => median(rounds.map(pick));
  const microseconds = (kind: keyof Costs): string => middle((costs) => costs[kind]).toFixed(0);
  const note = `${microseconds('threeTimes')} µs ÷ ${microseconds('one')} µs`;
  const bare = middle(({ bareOne, bareSpread }) => bareSpread / bareOne);
  return [
    {
      what: 'processor time for a hot read, three instances ÷ one, each with as much to do',
      value: middle(({ one, threeTimes }) => threeTimes / one),
      wanted: { atMost: 1.15 },
      source: `${SOURCE}, ${CONNECTIONS} connections for each`,
      note,
    },
    {
      what: 'processor time for a hot read, three instances ÷ one, the same load spread',
      value: middle(({ one, spread }) => spread / one),
      wanted: { atMost: 1.15 },
      source: `${SOURCE}, ${CONNECTIONS} connections in all`,
      note: `${microseconds('spread')} µs ÷ ${microseconds('one')} µs; bare Fastify, of which three share nothing: ${bare.toFixed(2)}, ${microseconds('bareSpread')} µs ÷ ${microseconds('bareOne')} µs`,
    },
  ];
}

async function sideOf(fleet: Fleet): Promise<Side> {
  return {
    services: fleet.services,
    load: { paths: await hotPaths(fleet), key: fleet.key },
  };
}

/** `reads` for each of the services, shared by all. */
async function costOf(
  { services, load }: Side,
  connections: number,
  reads: number,
): Promise<number> {
  const urls = services.map(({ url }) => url);
  const requests = reads * services.length;
  const before = processorMsOf(services);
  await readAll({ ...load, urls, connections, requests });
  return ((processorMsOf(services) - before) * 1000) / requests;
}
