import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { readControl } from '#sandbox/instruments/remote-controls.ts';
import type { BenchRow } from '../row.ts';
import type { BenchEngine } from '../stores.ts';
import { deleteLeads, type Fleet, inFleet, openLeads } from './fleet.ts';

export type TrackerCallScale = {
  issues: number;
  deletions: number;
  /** How long twenty consumers poll. */
  seconds: number;
};

const CONSUMERS = 20;
const POLL_EVERY_MS = 1000;
const FRESH_FOR = '2s';
const PATHS = ['/api/v1/leads', '/api/v1/leads?state=all'];

/** Calls since the start. `billed` count against the quota; a 304 does not. */
type Count = { billed: number; all: number };

type Counts = { crawl: Count; reads: Count; deletions: Count };

/**
 * What the tracker gets from three instances and from one over the same span: from an empty store
 * through the first crawl, twenty consumers that poll what nobody changes, and some deletions.
 */
export async function measureTrackerCalls(
  engine: BenchEngine,
  scale: TrackerCallScale,
): Promise<BenchRow[]> {
  const options = { issues: scale.issues, freshFor: FRESH_FOR };
  const countWith = (instances: string[][]): Promise<Counts> =>
    inFleet(engine, { ...options, instances }, (fleet) => countCalls(fleet, scale));
  const [one, three] = await Promise.all([countWith([[]]), countWith([[], [], []])]);
  const ratio = (kind: keyof Count): number => three.deletions[kind] / one.deletions[kind];
  const notes = (kind: keyof Count): string => {
    const parts = [textOf(one, kind), textOf(three, kind)];
    return `one: ${parts[0]}; three: ${parts[1]}`;
  };
  const { issues, deletions, seconds } = scale;
  const span = `a crawl of ${issues.toLocaleString('en')} issues, ${CONSUMERS} consumers for ${seconds} s, ${deletions} deletions`;
  return [
    {
      what: 'billed tracker calls, three instances ÷ one, quiet tracker',
      value: ratio('billed'),
      wanted: { atMost: 1.2 },
      source: 'call log of the tracker',
      note: `${span}; ${notes('billed')}`,
    },
    {
      what: 'all tracker calls, three instances ÷ one, quiet tracker',
      value: ratio('all'),
      source: 'call log of the tracker',
      note: `with the 304s that GitHub does not count, every ${FRESH_FOR} in place of 15 s; ${notes('all')}`,
    },
  ];
}

function textOf({ crawl, reads, deletions }: Counts, kind: keyof Count): string {
  return `${crawl[kind]} to crawl, ${reads[kind] - crawl[kind]} to read, ${deletions[kind] - reads[kind]} to delete`;
}

async function countCalls(fleet: Fleet, { deletions, seconds }: TrackerCallScale): Promise<Counts> {
  const count = async (): Promise<Count> => {
    const calls = await readControl<{ billed: boolean }>(fleet.tracker.url, 'calls');
    return { billed: calls.filter(({ billed }) => billed).length, all: calls.length };
  };
  const crawl = await count();
  await poll(fleet, seconds);
  const reads = await count();
  const numbers = (await openLeads(fleet)).slice(0, deletions);
  for (const number of numbers) await deleteLeads(fleet, [number]);
  return { crawl, reads, deletions: await count() };
}

/** Each consumer asks another instance each time, as behind a proxy. */
async function poll({ services, key }: Fleet, seconds: number): Promise<void> {
  const endsAt = performance.now() + seconds * 1000;
  await Promise.all(
    Array.from({ length: CONSUMERS }, async (_, consumer) => {
      for (let turn = consumer; performance.now() < endsAt; turn += 1) {
        const { url } = services[turn % services.length] ?? {};
        const path = PATHS[consumer % PATHS.length];
        const response = await fetch(`${url}${path}`, { headers: { 'x-api-key': key } });
        if (!response.ok) throw new Error(`a read got ${response.status}`);
        await response.arrayBuffer();
        await sleep(POLL_EVERY_MS);
      }
    }),
  );
}
