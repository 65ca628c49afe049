import { writeFileSync } from 'node:fs';
import path from 'node:path';
import autocannon from 'autocannon';
import { start } from '../processes.ts';
import { type BenchRow, median } from '../row.ts';
import { createKey, serve } from '../service.ts';
import type { BenchEngine } from '../stores.ts';
import { inLeadWorld, type LeadWorld, readJson } from './world.ts';

export type HotScale = { leads: number; seconds: number; rounds: number };

const CONNECTIONS = 20;
const source = `autocannon, ${CONNECTIONS} connections, in turns`;

/** Reads that memory serves, against bare Fastify that sends the same bytes. */
export async function measureHot(engine: BenchEngine, scale: HotScale): Promise<BenchRow[]> {
  return inLeadWorld(engine, scale.leads, async (world) => {
    const service = await serve(world.config);
    try {
      const list = `${service.url}/api/v1/leads`;
      const { items } = (await readJson(list, world.key)) as { items: { id: string }[] };
      const detail = `${list}/${items[0]?.id ?? ''}`;
      const rowOf = async (what: string, url: string, atLeast: number): Promise<BenchRow> => {
        const { ratio, rate } = await compare(world, url, scale);
        const note = `${rate.toFixed(0)} reads a second`;
        return { what, value: ratio, wanted: { atLeast }, source, note };
      };
      return [
        await rowOf('hot list ÷ bare Fastify', list, 0.9),
        await rowOf('hot detail ÷ bare Fastify', detail, 0.75),
        await rowOf('hot page of the feed ÷ bare Fastify', `${list}/changes?from=start`, 0.6),
      ];
    } finally {
      await service.stop();
    }
  });
}

async function compare(
  { folder, config }: LeadWorld,
  url: string,
  { rounds, seconds }: HotScale,
): Promise<{ ratio: number; rate: number }> {
  const key = await createKey(config);
  const file = path.join(folder, 'bytes.json');
  writeFileSync(file, JSON.stringify(await readJson(url, key)));
  const bare = await start(['bench/leads/bare-server.ts', file]);
  try {
    const ratios: number[] = [];
    const rates: number[] = [];
    await load(url, key, 1);
    await load(`${bare.url}/bytes`, key, 1);
    for (let round = 0; round < rounds; round += 1) {
      const theirs = await load(`${bare.url}/bytes`, key, seconds);
      const ours = await load(url, key, seconds);
      ratios.push(ours / theirs);
      rates.push(ours);
    }
    return { ratio: median(ratios), rate: median(rates) };
  } finally {
    await bare.stop();
  }
}

/** Requests a second. */
async function load(url: string, key: string, seconds: number): Promise<number> {
  const result = await autocannon({
    url,
    connections: CONNECTIONS,
    duration: seconds,
    headers: { 'x-api-key': key },
  });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${url} did not answer 200`);
  return result.requests.average;
}
