import { execFile } from 'node:child_process';
import { createSecretKey } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Registry } from 'prom-client';
import { createLimiter } from '#access/limit.ts';
import { openDatabase } from '#adapters/sqlite/database.ts';
import { migrate } from '#adapters/sqlite/migrate.ts';
import { createReceiptStore } from '#adapters/sqlite/receipt-store.ts';
import { createApp } from '#http/app.ts';
import { acceptDelivery } from '#partners/accept-delivery.ts';
import { createPartner, createPartners } from '#partners/partner.ts';
import { createPayloadSealer } from '#partners/payload.ts';
import type { ReceiptStore } from '#partners/receipt-store.ts';
import { refuseUnread, verifyCall } from '#partners/verify-call.ts';
import { systemClock } from '#shared/clock.ts';
import { createTimedIds, newUuid } from '#shared/ids.ts';
import { silentLog } from '#shared/log.ts';
import { Secret } from '#shared/secret.ts';
import { type BenchRow, median, ratioRow } from './row.ts';

const CONNECTIONS = 50;
const BATCH = 100;
const loadScript = fileURLToPath(new URL('delivery-load.ts', import.meta.url));

/** How long each figure is measured, and how often those that are compared. */
export type IntakeBenchScale = { seconds: number; rounds: number };

/**
 * Durable intake against the same route with verification but without a store, and batches against
 * single calls, both one after the other.
 */
export async function measureIntake({ seconds, rounds }: IntakeBenchScale): Promise<BenchRow[]> {
  const directory = mkdtempSync(path.join(tmpdir(), 'trackport-bench-'));
  const database = openDatabase({ path: path.join(directory, 'trackport.db') });
  try {
    migrate({ database, log: silentLog });
    const sealer = createPayloadSealer(Buffer.alloc(32, 1));
    const durable = await startServer(createReceiptStore({ database, sealer }));
    const forgetful = await startServer(forgetfulStore);
    for (const { port } of [durable, forgetful]) await load({ port, seconds: 1 });
    const shares: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const without = await load({ port: forgetful.port, seconds });
      shares.push((await load({ port: durable.port, seconds })) / without);
    }
    const one = { port: durable.port, seconds, connections: 1 };
    const perEvent = (await load(one)) / (await load({ ...one, events: BATCH }));
    await Promise.all([durable.close(), forgetful.close()]);
    return [
      ratioRow(`durable intake ÷ without a store, ${CONNECTIONS} connections`, median(shares), {
        atLeast: 0.7,
      }),
      ratioRow(`time per event, batch of ${BATCH} ÷ single calls`, perEvent, { atMost: 0.2 }),
    ];
  } finally {
    database.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

const forgetfulStore: Pick<ReceiptStore, 'accept'> = {
  accept: async ({ events, path: _path, ...receipt }) => ({
    kind: 'accepted',
    receipt: { ...receipt, status: 'ACCEPTED' },
    queued: events.length,
  }),
};

async function startServer(store: Pick<ReceiptStore, 'accept'>) {
  const partner = createPartner('crm-one', {
    scheme: 'hmac-sha256',
    secrets: [{ value: new Secret('bench-secret') }],
  });
  const clock = systemClock;
  const partners = createPartners([partner]);
  const hashKey = createSecretKey(Buffer.alloc(32, 2));
  const newId = createTimedIds(clock);
  const deps = { store, clock, newId, hashKey, wakeWorker: () => {} };
  const limiter = createLimiter({ clock, limitPerMinute: 300 });
  const app = createApp({
    clock,
    newId: newUuid,
    log: silentLog,
    metrics: new Registry(),
    publicUrl: () => 'https://trackport.example.com',
    refusalLimiter: limiter,
    partners: {
      refuseUnread: (call) => refuseUnread({ partners, clock }, call),
      verify: (call) => verifyCall({ partners, clock }, call),
      accept: (delivery) => acceptDelivery(deps, delivery),
      checkBearer: async () => {},
      limiter,
      metrics: { registry: new Registry(), namesPartners: true },
    },
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return { port, close: () => app.close() };
}

type Load = { port: number; seconds: number; connections?: number; events?: number };

/** Events per second. */
async function load({ port, seconds, connections = CONNECTIONS, events = 1 }: Load) {
  const args = [loadScript, port, connections, seconds, events].map(String);
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const result = JSON.parse(stdout) as { calls: number; refused: number; seconds: number };
  if (result.refused > 0) throw new Error(`${result.refused} deliveries were not accepted`);
  return (result.calls * events) / result.seconds;
}
