import { performance } from 'node:perf_hooks';
import { callControl } from '#sandbox/instruments/remote-controls.ts';
import type { BenchRow } from '../row.ts';
import { serve } from '../service.ts';
import type { BenchEngine } from '../stores.ts';
import { billedCalls, inLeadWorld, type LeadWorld, octokitOf, readJson } from './world.ts';

/** A walk over all leads, against a direct one; on the way every page asks the store for claims. */
export async function measureWalks(engine: BenchEngine, rows: number): Promise<BenchRow[]> {
  return inLeadWorld(engine, rows, async (world) => {
    const service = await serve(world.config);
    try {
      return await measureIn(world, service.url);
    } finally {
      await service.stop();
    }
  });
}

async function measureIn(world: LeadWorld, url: string): Promise<BenchRow[]> {
  const direct = await timed(() => directWalk(world));
  await callControl(world.tracker.url, 'calls.clear');
  const cold = await timed(() => ourWalk(world, url));
  const billed = await billedCalls(world.tracker.url);
  const fresh = await timed(() => ourWalk(world, url));
  const { rows, leads } = direct.result;
  if (cold.result !== leads) throw new Error('the walks found different leads');
  const source = 'clock, one walk each';
  return [
    {
      what: 'billed calls of a cold full walk',
      value: billed,
      wanted: { exactly: Math.ceil(rows / 100) },
      source: 'call log of the tracker',
      note: `${leads} leads in ${rows} rows`,
    },
    {
      what: 'cold full walk ÷ octokit.paginate',
      value: cold.ms / direct.ms,
      wanted: { atMost: 1.2 },
      source,
    },
    {
      what: 'fresh full walk ÷ octokit.paginate',
      value: fresh.ms / direct.ms,
      wanted: { atMost: 0.2 },
      source,
    },
  ];
}

async function directWalk(world: LeadWorld): Promise<{ rows: number; leads: number }> {
  const rows = await octokitOf(world).paginate('GET /repos/{owner}/{repo}/issues', {
    owner: 'acme',
    repo: 'leads',
    labels: 'approved',
    state: 'open',
    per_page: 100,
  });
  return { rows: rows.length, leads: rows.filter((row) => !('pull_request' in row)).length };
}

type Page = { items: unknown[]; pagination: { nextCursor?: string } };

async function ourWalk({ key }: LeadWorld, url: string): Promise<number> {
  let count = 0;
  let cursor: string | undefined;
  do {
    const query = cursor === undefined ? '' : `&cursor=${cursor}`;
    const page = (await readJson(`${url}/api/v1/leads?limit=50${query}`, key)) as Page;
    count += page.items.length;
    cursor = page.pagination.nextCursor;
  } while (cursor !== undefined);
  return count;
}

async function timed<T>(task: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const startedAt = performance.now();
  const result = await task();
  return { result, ms: performance.now() - startedAt };
}
