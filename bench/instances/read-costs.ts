import { type BenchRow, median } from '../row.ts';
import { inBareServers, type Side } from './bare-servers.ts';
import { type Fleet, hotPaths, processorMsOf, readAll } from './fleet.ts';

/** As many as one instance has, or each of three. */
const CONNECTIONS = 30;
const SOURCE = '/proc/PID/stat of all instances';

type ReadScale = { reads: number; warmUpReads: number; rounds: number; folder: string };

/** Processor time of one read in µs: of one process, of three with three times the load, and with the same. */
type Costs = { one: number; threeTimes: number; spread: number };

type Round = { ours: Costs; bare: Costs };

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
    const costs = async (alone: Side, several: Side): Promise<Costs> => ({
      one: await cost(alone, CONNECTIONS),
      threeTimes: await cost(several, 3 * CONNECTIONS),
      spread: await cost(several, CONNECTIONS),
    });
    const rounds: Round[] = [];
    for (let round = 0; round < scale.rounds; round += 1)
      rounds.push({ ours: await costs(one, three), bare: await costs(bareOne, bareThree) });
    return rowsOf(rounds);
  });
}

function rowsOf(rounds: readonly Round[]): BenchRow[] {
  const middle = (pick: (round: Round) => number): number => median(rounds.map(pick));
  const rowOf = (kind: 'threeTimes' | 'spread', what: string, load: string): BenchRow => {
    const textOf = (side: keyof Round): string => {
      const [several, alone] = [
        middle((round) => round[side][kind]),
        middle((round) => round[side].one),
      ];
      return `${several.toFixed(0)} µs ÷ ${alone.toFixed(0)} µs`;
    };
    const bare = middle((round) => round.bare[kind] / round.bare.one).toFixed(2);
    return {
      what: `processor time for a hot read, three instances ÷ one, ${what}`,
      value: middle((round) => round.ours[kind] / round.ours.one),
      wanted: { atMost: 1.15 },
      source: `${SOURCE}, ${CONNECTIONS} connections ${load}`,
      note: `${textOf('ours')}; bare Fastify, of which three share nothing: ${bare}, ${textOf('bare')}`,
    };
  };
  return [
    rowOf('threeTimes', 'each with as much to do', 'for each'),
    rowOf('spread', 'the same load spread', 'in all'),
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
