import BetterSqlite3 from 'better-sqlite3';
import { setTimeout as sleep } from 'node:timers/promises';
import { walk } from '../reader.ts';
import type { Acknowledged, World } from './world.ts';

const READS_MAX = 600;
const READ_AGAIN_MS = 100;

/**
 * Compares what the program finds on the disk, on which it serves at `url`: receipts with these that were acknowledged,
 * leads with all that were ever deleted.
 */
export async function findLosses(
  world: World,
  url: string,
  acknowledged: readonly Acknowledged[],
): Promise<string[]> {
  const shown = await readLeads(url, world.key);
  const claimed = world.acknowledged.flatMap((one) => one.claimed);
  return [
    ...claimed.filter((number) => shown.has(number)).map((it) => `lead ${it} is shown again`),
    ...world.bystanders.filter((it) => !shown.has(it)).map((it) => `lead ${it} is not shown`),
    ...(await lostReceipts(world, acknowledged)).map((id) => `receipt ${id} is lost`),
    ...damageOf(world.store),
  ];
}

async function readLeads(url: string, key: string): Promise<ReadonlySet<number>> {
  for (let tries = 0; tries < READS_MAX; tries += 1) {
    const ids = await walk(url, key);
    if (ids) return new Set([...ids].map(Number));
    await sleep(READ_AGAIN_MS);
  }
  throw new Error('the leads cannot be read');
}

type Page = { items: { id: string }[]; pagination: { nextCursor?: string } };

/** Newest first, until all of them are found. */
async function lostReceipts(
  world: World,
  acknowledged: readonly Acknowledged[],
): Promise<string[]> {
  const lost = new Set(acknowledged.map(({ receiptId }) => receiptId));
  for (let from: string[] | undefined = []; from && lost.size > 0;) {
    const page: Page = await world.command('receipt', 'list', '--limit', '100', ...from);
    for (const { id } of page.items) lost.delete(id);
    const { nextCursor } = page.pagination;
    from = nextCursor === undefined ? undefined : ['--cursor', nextCursor];
  }
  return [...lost];
}

function damageOf(store: string): string[] {
  const handle = new BetterSqlite3(store, { readonly: true });
  try {
    const found = handle.pragma('integrity_check', { simple: true });
    return found === 'ok' ? [] : [`the store is damaged: ${String(found)}`];
  } finally {
    handle.close();
  }
}
