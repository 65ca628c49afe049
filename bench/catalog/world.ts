import { createSpecThreads } from '#adapters/threads/spec-threads.ts';
import { createReadRecord } from '#catalog/usage.ts';
import { type Caller, type Catalog, createCatalog } from '#catalog/index.ts';
import { systemClock } from '#shared/clock.ts';
import { silentLog } from '#shared/log.ts';
import type { Store } from '#compose/store.ts';

/** Ten words that what the bench stores is made of. */
export const WORDS = 'payment order stock invoice carrier refund basket tariff ledger claim'.split(
  ' ',
);

export const caller: Caller = {
  workspaceId: 'default',
  actor: { kind: 'system', subject: 'bench' },
};

/** A small specification. */
export const spec = {
  openapi: '3.1.0',
  info: { title: 'Bench', version: '1.0.0' },
  paths: Object.fromEntries(
    WORDS.map((word) => [`/${word}`, { get: { responses: { 200: { description: word } } } }]),
  ),
};

/** The catalog on a store, as a service has it. */
export function openCatalog({
  database: db,
  search,
  cursors,
}: Pick<Store, 'database' | 'search' | 'cursors'>): Catalog {
  return createCatalog({
    db,
    search,
    usage: createReadRecord({ db, clock: systemClock, log: silentLog }),
    clock: systemClock,
    cursors,
    ...createSpecThreads({ clock: systemClock }),
    rules: () => ({ types: [], sources: [], public: [], findings: 'block', compatibility: 'warn' }),
  });
}

/** Milliseconds of `calls` calls, one after another. */
export async function timeCalls(
  calls: number,
  work: (call: number) => Promise<unknown>,
): Promise<number> {
  const startedAt = performance.now();
  for (let call = 0; call < calls; call += 1) await work(call);
  return performance.now() - startedAt;
}
