import { median } from '../row.ts';
import type { BenchRow } from '../row.ts';
import type { BenchEngine } from '../stores.ts';
import { deleteLeads, hotPaths, inFleet, openLeads, processorMsOf, readAll } from './fleet.ts';
import type { Fleet } from './fleet.ts';

export type ProcessorScale = {
  /** Reads of one round. */
  reads: number;
  /** Deletions of one round. */
  deletions: number;
  rounds: number;
};

const CONNECTIONS = 30;
const SOURCE = '/proc/PID/stat of all instances';
const ISSUES = 4000;

/** Processor time for a read and for a deletion, with three instances against one. */
export async function measureProcessorTime(
  engine: BenchEngine,
  scale: ProcessorScale,
): Promise<BenchRow[]> {
  const options = { issues: ISSUES, freshFor: '1h' };
  return inFleet(engine, { ...options, instances: [[]] }, (one) =>
    inFleet(engine, { ...options, instances: [[], [], []] }, async (three) => [
      await compare({ one, three }, scale.rounds, {
        what: `processor time for a hot read, three instances ÷ one`,
        times: scale.reads,
        measure: readMany,
      }),
      await compare({ one, three }, scale.rounds, {
        what: `processor time for a deletion, three instances ÷ one`,
        times: scale.deletions,
        measure: deleteMany,
      }),
    ]),
  );
}

type Work = {
  what: string;
  /** How many in one round. */
  times: number;
  measure: (fleet: Fleet, times: number) => Promise<void>;
};

/** The first round warms up: each of three has a third of the work, and so has two more of them. */
async function compare(
  { one, three }: { one: Fleet; three: Fleet },
  rounds: number,
  { what, times, measure }: Work,
): Promise<BenchRow> {
  const costs = { one: [] as number[], three: [] as number[] };
  await measure(one, times);
  for (let turn = 0; turn < three.services.length; turn += 1) await measure(three, times);
  for (let round = 0; round < rounds; round += 1) {
    costs.one.push(await costOf(one, { times, measure }));
    costs.three.push(await costOf(three, { times, measure }));
  }
  const ratios = costs.three.map((cost, round) => cost / (costs.one[round] ?? Number.NaN));
  return {
    what,
    value: median(ratios),
    wanted: { atMost: 1.15 },
    source: SOURCE,
    note: `${median(costs.three).toFixed(2)} ms ÷ ${median(costs.one).toFixed(2)} ms, ${times} in a round`,
  };
}

/** Milliseconds of processor time for each, what idles meanwhile among them. */
async function costOf(fleet: Fleet, { times, measure }: Omit<Work, 'what'>): Promise<number> {
  const before = processorMsOf(fleet.services);
  await measure(fleet, times);
  return (processorMsOf(fleet.services) - before) / times;
}

async function readMany(fleet: Fleet, requests: number): Promise<void> {
  const urls = fleet.services.map(({ url }) => url);
  const paths = await hotPaths(fleet);
  await readAll({ urls, paths, key: fleet.key, connections: CONNECTIONS, requests });
}

async function deleteMany(fleet: Fleet, count: number): Promise<void> {
  const numbers = (await openLeads(fleet)).slice(0, count);
  if (numbers.length < count) throw new Error('there are too few leads left to delete');
  await deleteLeads(fleet, numbers);
}
