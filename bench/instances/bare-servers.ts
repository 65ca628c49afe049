/** Processes that share nothing: what they lose beside each other is the machine's. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Running, start } from '../processes.ts';
import type { ReadLoad } from './fleet.ts';

/** Processes that are read from, and how. */
export type Side = { services: readonly Running[]; load: Pick<ReadLoad, 'paths' | 'key'> };

type BareOptions = Side & {
  folder: string;
  /** Servers beside the one alone. */
  more: number;
};

/** Bare Fastify, one server and `more` others, with the bytes of the first path of the side. */
export async function inBareServers<T>(
  { services, load, folder, more }: BareOptions,
  work: (one: Side, several: Side) => Promise<T>,
): Promise<T> {
  const headers = { 'x-api-key': load.key };
  const response = await fetch(`${services[0]?.url}${load.paths[0]}`, { headers });
  const file = path.join(folder, 'bytes.json');
  writeFileSync(file, await response.text());
  const started: Running[] = [];
  try {
    for (let count = 0; count <= more; count += 1)
      started.push(await start(['bench/leads/bare-server.ts', file]));
    const bareLoad = { ...load, paths: ['/bytes'] };
    return await work(
      { services: started.slice(0, 1), load: bareLoad },
      { services: started.slice(1), load: bareLoad },
    );
  } finally {
    for (const one of started) await one.stop();
  }
}
