import { createSecretKey } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { Registry } from 'prom-client';
import { createPublicServer } from '#http/server.ts';
import { toHashedIdentity } from '#leads/directory/lead-directory.ts';
import { adoptRepository, putEntries } from '#leads/directory/write-directory.ts';
import { emailsIn } from '#leads/model/identity.ts';
import type { DirectoryStore } from '#leads/lead-store.ts';
import { createPartners } from '#partners/index.ts';
import { acceptDelivery, type WriteReceipt } from '#partners/intake/accept-delivery.ts';
import { createPartner, createPartnerList } from '#partners/partner.ts';
import { readDelivery } from '#partners/read-delivery.ts';
import { createReceiptWriter } from '#partners/intake/write-receipts.ts';
import { systemClock } from '#shared/clock.ts';
import { createTimedIds, newUuid } from '#shared/ids.ts';
import { silentLog } from '#shared/log.ts';
import { deriveKey } from '#shared/crypto/hash.ts';
import { createSealer } from '#shared/crypto/sealer.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { unservedUseCases } from '#compose/openapi.ts';
import { type BenchRow, median } from '../row.ts';
import { PARTNER_SECRET } from '../partner.ts';
import { output } from '../processes.ts';
import type { Store } from '#compose/store.ts';
import { type BenchEngine, openBenchStore, REPOSITORY } from '../stores.ts';

const CONNECTIONS = 50;
const BATCH = 100;
const PAGE = 1000;

/** Time for which each figure is measured, and rounds of those that are compared. */
export type IntakeBenchScale = {
  seconds: number;
  rounds: number;
  /** People in the directory whose deletions claim their lead. */
  people: number;
};

const source = `another process, ${CONNECTIONS} connections, in turns`;

/**
 * Durable intake against the same route with verification but without a store, the same where every
 * deletion claims a lead, and batches against single calls, all one after the other.
 */
export async function measureIntake(
  { newStore }: BenchEngine,
  { seconds, rounds, people }: IntakeBenchScale,
): Promise<BenchRow[]> {
  const strangers = await openBenchStore(await newStore());
  const known = await openBenchStore(await newStore());
  try {
    await fillDirectory(known.leadsBy(systemClock), people);
    const claiming = await startServer(acceptanceOf(known));
    const forgetful = await startServer(forgetfulAccept);
    const durable = await startServer(acceptanceOf(strangers));
    const servers = { durable, claiming };
    for (const { port } of [durable, forgetful, claiming]) await load({ port, seconds: 1 });
    const shares = { durable: [] as number[], claiming: [] as number[] };
    for (let round = 0; round < rounds; round += 1) {
      const without = await load({ port: forgetful.port, seconds });
      for (const name of ['durable', 'claiming'] as const)
        shares[name].push((await load({ port: servers[name].port, seconds })) / without);
    }
    const one = { port: durable.port, seconds, connections: 1 };
    const perEvent = (await load(one)) / (await load({ ...one, events: BATCH }));
    await Promise.all([durable, forgetful, claiming].map((server) => server.close()));
    return [
      {
        what: 'durable intake ÷ without a store',
        value: median(shares.durable),
        wanted: { atLeast: 0.85 },
        source,
      },
      {
        what: `the same, and each deletion claims one lead of ${people.toLocaleString('en')}`,
        value: median(shares.claiming),
        wanted: { atLeast: 0.7 },
        source,
      },
      {
        what: `time per event, batch of ${BATCH} ÷ single calls`,
        value: perEvent,
        wanted: { atMost: 0.2 },
        source: 'the same, 1 connection',
      },
    ];
  } finally {
    for (const store of [strangers, known]) await store.close();
  }
}

const directoryKey = createSecretKey(Buffer.alloc(32, 2));

/** A lead for each of the people whose deletions are sent. */
async function fillDirectory(store: DirectoryStore, people: number): Promise<void> {
  await adoptRepository(store, 1, { rules: Buffer.from('rules'), at: 0 });
  for (let from = 1; from <= people; from += PAGE) {
    const page = Array.from({ length: Math.min(PAGE, people - from + 1) }, (_, at) => from + at);
    await putEntries(
      store,
      page.map((number) => ({
        number,
        createdAt: 0,
        updatedAt: 0,
        isReadable: true,
        labels: ['approved'],
        identities: emailsIn(`person-${number}@example.com`).map((one) =>
          toHashedIdentity(directoryKey, one),
        ),
      })),
    );
  }
}

function acceptanceOf({ database, secretKey }: Store): WriteReceipt {
  const sealer = createSealer(deriveKey(secretKey, 'payloads'));
  return createReceiptWriter(database, { sealer, repository: REPOSITORY });
}

const forgetfulAccept: WriteReceipt = async ({ events, path: _path, ...receipt }) => ({
  kind: 'accepted',
  receipt: { ...receipt, status: 'ACCEPTED' },
  queued: events.length,
  written: events,
  ignored: 0,
});

/** Stands for what intake does not need. */
const unserved = {} as never;

async function startServer(accept: WriteReceipt) {
  const partner = createPartner('crm-one', {
    scheme: 'hmac-sha256',
    secrets: [{ value: new Secret(PARTNER_SECRET) }],
  });
  const clock = { ...systemClock, isTrackers: true as const };
  const list = createPartnerList([partner]);
  const partners = createPartners({
    partners: () => list,
    watchWrite: (write) => write,
    db: unserved,
    repository: '',
    instance: '',
    sealer: unserved,
    workerLease: unserved,
    filler: unserved,
    latestCreation: () => clock.now(),
    earliestNow: () => clock.now(),
    learnTime: () => undefined,
    traffic: { record: () => undefined, read: async () => [] },
    hearing: { note: () => undefined, read: unserved, keep: unserved },
    editor: unserved,
    cursors: unserved,
    rules: unserved,
    readDelivery,
    directoryKey,
    statusKey: createSecretKey(Buffer.alloc(32, 3)),
    certificates: unserved,
    openReaders: unserved,
    random: Math.random,
    countOutcome: () => undefined,
    writeIntervalMs: 0,
    clock,
    log: silentLog,
  });
  const intake = {
    writeReceipt: accept,
    readDelivery,
    clock,
    latestCreation: () => clock.now(),
    newId: createTimedIds(clock),
    directoryKey,
    wakeWorker: () => undefined,
    reporter: { settled: () => undefined },
  };
  const options = {
    clock,
    newId: newUuid,
    log: silentLog,
    metrics: new Registry(),
    publicUrl: () => 'https://trackport.example.com',
    refusedPerMinute: 300,
  };
  const app = createPublicServer(options, {
    ...unservedUseCases(),
    partners: { ...partners, accept: (delivery) => acceptDelivery(intake, delivery) },
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return { port, close: () => app.close() };
}

type Load = { port: number; seconds: number; connections?: number; events?: number };

/** Events per second. */
async function load({ port, seconds, connections = CONNECTIONS, events = 1 }: Load) {
  const args = ['bench/intake/delivery-load.ts', port, connections, seconds, events].map(String);
  type Sent = { calls: number; refused: number; seconds: number };
  const result = JSON.parse(await output(args)) as Sent;
  if (result.refused > 0) throw new Error(`${result.refused} deliveries were not accepted`);
  return (result.calls * events) / result.seconds;
}
