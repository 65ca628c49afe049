import type { KeyObject } from 'node:crypto';
import type { Database } from '#shared/database.ts';
import { createSealer, type Sealer } from '#shared/crypto/sealer.ts';
import { createReceiptWriter } from '#partners/intake/write-receipts.ts';
import { createReceipts, type Receipts } from '#partners/receipts/receipts.ts';
import { createCursorSealer } from '#shared/pagination/page.ts';
import { keepMatches, type NewMatch } from '#partners/worker/match/keep-matches.ts';
import type { WorkItem } from '#partners/worker/work-item.ts';
import { settle, type Settlement } from '#partners/worker/settle-event.ts';
import type { NewEvent, NewReceipt } from '#partners/intake/accept-delivery.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { newUuid } from '#shared/ids.ts';
import { REPOSITORY } from './directory.ts';
import { keyOf } from './keys.ts';

/** Under which the payloads of events are sealed in every store of a test. */
const payloadKey = keyOf(3);
export const sealer = createSealer(payloadKey);

/** The instance that works on the stores of a test. */
export const INSTANCE = 'a';

/** As the configuration has secrets. */
export function secretsOf(...values: string[]): { value: Secret }[] {
  return values.map((value) => ({ value: new Secret(value) }));
}

/** The store as intake has it. */
export type ReceiptScope = { db: Database; accept: ReturnType<typeof createReceiptWriter> };

type Keyed = { repository?: string; key?: KeyObject };

export function receiptsIn(
  db: Database,
  { repository = REPOSITORY, key = payloadKey }: Keyed = {},
): ReceiptScope {
  const scope = { sealer: createSealer(key), repository: repository.toLowerCase() };
  return { db, accept: createReceiptWriter(db, scope) };
}

/** Operators' use cases of its receipts at an instant. */
export function operatorsOf(db: Database, now: number): Receipts {
  const cursors = createCursorSealer(keyOf(9));
  return createReceipts({ db, cursors, clock: { now: () => now }, wakeWorker: () => undefined });
}

/** The store as a worker has it. */
export type WorkScope = { db: Database; repository: string; instance: string; sealer: Sealer };

export function workIn(
  db: Database,
  {
    repository = REPOSITORY,
    key = payloadKey,
    instance = INSTANCE,
  }: Keyed & { instance?: string } = {},
): WorkScope {
  return { db, repository: repository.toLowerCase(), instance, sealer: createSealer(key) };
}

/** Keeps a match as the worker does. Undefined: the lease was lost. */
export async function keepMatch(
  { db, repository }: WorkScope,
  match: NewMatch,
): Promise<readonly number[] | undefined> {
  return (await db.exclusive((tx) => keepMatches(tx, repository, [match])))[0];
}

export function settleEvent(
  { db, repository }: WorkScope,
  item: WorkItem,
  settlement: Settlement,
  now: number,
) {
  return db.exclusive((tx) => settle(tx, repository, item, { ...settlement, now }));
}

/** Accepts a delivery of `crm-one` with one event that waits; returns the id of its receipt. */
export async function acceptEvent(
  receipts: Pick<ReceiptScope, 'accept'>,
  { at, ...event }: { at: number } & Pick<NewEvent, 'sameEventKey'> & Partial<NewEvent>,
  delivery: Partial<Pick<NewReceipt, 'traceparent' | 'path' | 'createdBefore' | 'events'>> = {},
): Promise<string> {
  const { receipt } = await receipts.accept({
    id: newUuid(),
    partnerId: 'crm-one',
    path: 'deletions',
    eventType: 'lead.deletion',
    correlationId: 'c',
    receivedAt: at,
    createdBefore: at,
    events: [
      {
        position: 0,
        outcome: 'PENDING',
        names: [],
        payload: Buffer.from('{}'),
        digest: Buffer.alloc(32),
        ...event,
      },
    ],
    ...delivery,
  });
  return receipt.id;
}
