import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Running } from '../processes.ts';
import { type BenchRow, median } from '../row.ts';
import type { BenchEngine } from '../stores.ts';
import { deleteLeads, type Fleet, inFleet, openLeads, processorMsOf } from './fleet.ts';
import { compareReads } from './read-costs.ts';

export type ProcessorScale = {
  /** Reads of one round, for each instance. */
  reads: number;
  /** The same before the first round: by then everything that is hot is compiled. */
  warmUpReads: number;
  /** Deletions of one round. */
  deletions: number;
  rounds: number;
  /** How long nothing is asked of the instances. */
  idleSeconds: number;
};

const SOURCE = '/proc/PID/stat of all instances';
const ISSUES = 4000;

/** Processor time for a read and for a deletion, with three instances against one, and of nothing. */
export async function measureProcessorTime(
  engine: BenchEngine,
  scale: ProcessorScale,
): Promise<BenchRow[]> {
  const options = { issues: ISSUES, freshFor: '1h' };
  return inFleet(engine, { ...options, instances: [[]] }, (one) =>
    inFleet(engine, { ...options, instances: [[], [], []] }, async (three) => {
      const idle = await measureIdle({ one, three }, scale.idleSeconds);
      return [
        ...(await compareReads({ one, three }, { ...scale, folder: engine.folder })),
        await compareDeletions({ one, three }, scale, idle),
        ...rowsOf(idle, scale.idleSeconds),
      ];
    }),
  );
}

/** Milliseconds of processor time a second while nobody asks for anything. */
type Idle = { working: number; standingBy: number };

/** The instance that starts first works on the store. */
async function measureIdle({ one, three }: Fleets, seconds: number): Promise<Idle> {
  const others = three.services.slice(1);
  const [working, standingBy] = await Promise.all([
    idleMs(one.services, seconds),
    idleMs(others, seconds),
  ]);
  return { working, standingBy: standingBy / others.length };
}

async function idleMs(services: readonly Running[], seconds: number): Promise<number> {
  const before = processorMsOf(services);
  await sleep(seconds * 1000);
  return (processorMsOf(services) - before) / seconds;
}

function rowsOf({ working, standingBy }: Idle, seconds: number): BenchRow[] {
  const source = `/proc/PID/stat, ${seconds} s`;
  return [
    {
      what: 'processor time a second of an idle instance that works on the store',
      value: working,
      unit: 'ms',
      source,
    },
    {
      what: 'processor time a second of an idle instance that stands by',
      value: standingBy,
      unit: 'ms',
      source,
    },
  ];
}

type Fleets = { one: Fleet; three: Fleet };

/** What a deletion took, and how much of it the instances take in that time when they idle. */
type DeletionCost = { costMs: number; idleMs: number };

/** The first rounds warm up: each of three has a third of the work, and so has two more of them. */
async function compareDeletions(
  { one, three }: Fleets,
  { deletions, rounds }: ProcessorScale,
  { working, standingBy }: Idle,
): Promise<BenchRow> {
  const costs = { one: [] as DeletionCost[], three: [] as DeletionCost[] };
  const idleOfThree = working + 2 * standingBy;
  await deleteSome(one, deletions, working);
  for (const _ of three.services) await deleteSome(three, deletions, idleOfThree);
  for (let round = 0; round < rounds; round += 1) {
    costs.one.push(await deleteSome(one, deletions, working));
    costs.three.push(await deleteSome(three, deletions, idleOfThree));
  }
  const ratios = costs.three.map(({ costMs }, round) => costMs / (costs.one[round]?.costMs ?? NaN));
  const middle = (side: 'one' | 'three', part: keyof DeletionCost): string =>
    median(costs[side].map((cost) => cost[part])).toFixed(2);
  return {
    what: 'processor time for a deletion, three instances ÷ one',
    value: median(ratios),
    wanted: { atMost: 1.15 },
    source: SOURCE,
    note: `${middle('three', 'costMs')} ms ÷ ${middle('one', 'costMs')} ms, ${deletions} in a round; in that time they take ${middle('three', 'idleMs')} ms and ${middle('one', 'idleMs')} ms when they idle`,
  };
}

async function deleteSome(
  fleet: Fleet,
  count: number,
  idleMsASecond: number,
): Promise<DeletionCost> {
  const numbers = (await openLeads(fleet)).slice(0, count);
  if (numbers.length < count) throw new Error('there are too few leads left to delete');
  const before = processorMsOf(fleet.services);
  const startedAt = performance.now();
  await deleteLeads(fleet, numbers);
  const seconds = (performance.now() - startedAt) / 1000;
  const costMs = (processorMsOf(fleet.services) - before) / count;
  return { costMs, idleMs: (idleMsASecond * seconds) / count };
}
