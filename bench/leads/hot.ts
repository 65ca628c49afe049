import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Running, start } from '../processes.ts';
import { compareCosts, COST_SOURCE, record } from '../rivals.ts';
import type { BenchRow } from '../row.ts';
import { serve } from '../service.ts';
import type { BenchEngine } from '../stores.ts';
import { inLeadWorld, type LeadWorld, readJson } from './world.ts';

export type HotScale = { leads: number; seconds: number; rounds: number };

const LIST = '/api/v1/leads';
const FEED = `${LIST}/changes?from=start`;

/**
 * Reads that memory serves, against a peer with stock plug-ins, and against bare Fastify that sends the same bytes
 * and headers. A figure is how many times as fast ours is.
 */
export async function measureHot(engine: BenchEngine, scale: HotScale): Promise<BenchRow[]> {
  return inLeadWorld(engine, scale.leads, async (world) => {
    const ours = await serve(world.config);
    const servers = [ours];
    try {
      const { items } = (await readJson(`${ours.url}${LIST}`, world.key)) as Leads;
      const detail = `${LIST}/${items[0]?.id}`;
      const rivals = await startRivals(world, ours, [LIST, detail, FEED]);
      servers.push(...Object.values(rivals));
      const headers = { 'x-api-key': world.key };
      const { bare } = rivals;
      const costs = {
        list: await compareCosts({ ours, ...rivals }, { target: LIST, headers }, scale),
        detail: await compareCosts({ ours, ...rivals }, { target: detail, headers }, scale),
        feed: await compareCosts({ ours, bare }, { target: FEED, headers }, scale),
      };
      return rowsOf(costs, engine);
    } finally {
      for (const server of servers) await server.stop();
    }
  });
}

type Leads = { items: { id: string }[] };

async function startRivals(
  { folder, key }: LeadWorld,
  ours: Running,
  targets: readonly string[],
): Promise<{ bare: Running; peer: Running }> {
  const headers = { 'x-api-key': key };
  const recorded = await Promise.all(targets.map((target) => record(ours, { target, headers })));
  const file = path.join(folder, 'recorded.json');
  writeFileSync(file, JSON.stringify(recorded));
  return {
    bare: await start(['bench/bare-server.ts', file]),
    peer: await start(['bench/leads/peer-server.ts', file, key]),
  };
}

type Costs = { ours: number; bare: number };
type CostsWithPeer = Costs & { peer: number };

/** On PostgreSQL each read asks the database for claims: what that costs is shown, and no bound is set. */
function rowsOf(
  costs: { list: CostsWithPeer; detail: CostsWithPeer; feed: Costs },
  { name }: BenchEngine,
): BenchRow[] {
  const rowOf = (what: string, ours: number, theirs: number, atLeast: number): BenchRow => ({
    what: `hot ${what}`,
    value: theirs / ours,
    ...(name === 'SQLite' && { wanted: { atLeast } }),
    source: COST_SOURCE,
    note: `${ours.toFixed(0)} µs, theirs ${theirs.toFixed(0)} µs`,
  });
  const { list, detail, feed } = costs;
  const bare = 'bare Fastify with the same headers';
  return [
    rowOf('detail ÷ stock plug-ins', detail.ours, detail.peer, 1.4),
    rowOf('list of 50 ÷ stock plug-ins', list.ours, list.peer, 4),
    rowOf(`detail ÷ ${bare}`, detail.ours, detail.bare, 0.7),
    rowOf(`list of 50 ÷ ${bare}`, list.ours, list.bare, 0.6),
    rowOf(`page of the feed ÷ ${bare}`, feed.ours, feed.bare, 0.6),
  ];
}
