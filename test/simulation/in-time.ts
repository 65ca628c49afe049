import { availableParallelism } from 'node:os';
import useMemoryFolder from '../support/memory-folder.ts';
import { type RunServer, dropDatabases, makeTemplate } from '../support/postgres/template.ts';
import type { StoreChoice } from '../torture/store.ts';
import { describe, type Many, simulateMany } from './many.ts';
import { newUuid } from '#shared/ids.ts';
import { startPostgres } from '../support/postgres/server.ts';

/** Lends a server to `work`: the one at `url`, which is left as it was, else one of its own. */
async function withServer<T>(
  url: string | undefined,
  work: (server: RunServer) => Promise<T>,
): Promise<T> {
  const own = url === undefined ? await startPostgres() : undefined;
  const address = own?.url ?? url ?? '';
  const name = `trackport_${newUuid().replaceAll('-', '')}`;
  try {
    return await work({ url: address, template: await makeTemplate(address, name) });
  } finally {
    await (own ? own.stop() : dropDatabases(address, name));
  }
}

/** Plays histories on all cores, tells what they came to, and returns the exit code. */
export async function simulateInTime(
  work: Omit<Many, 'processes'>,
  { engine, postgresUrl }: StoreChoice,
): Promise<number> {
  const leave = useMemoryFolder();
  try {
    if (engine === 'sqlite') return await simulateAll(work);
    return await withServer(postgresUrl, (postgres) => simulateAll({ ...work, postgres }));
  } finally {
    leave();
  }
}

async function simulateAll(work: Omit<Many, 'processes'>): Promise<number> {
  const began = performance.now();
  const found: string[] = [];
  let seeds = 0;
  let steps = 0;
  let least = Infinity;
  await simulateMany({
    ...work,
    processes: availableParallelism(),
    onTold: (told) => {
      seeds += 1;
      steps += told.steps;
      least = Math.min(least, told.steps);
      if (told.violations.length === 0) return;
      found.push(describe(told));
      console.error(found.at(-1));
    },
  });
  const seconds = (performance.now() - began) / 1000;
  const perSecond = Math.round((10 * seeds) / seconds) / 10;
  console.table({
    seeds,
    'steps each': Math.round(steps / Math.max(1, seeds)),
    'steps at least': least,
    'seeds a second': perSecond,
    violations: found.length,
  });
  return found.length === 0 ? 0 : 1;
}
