import { describe, expect, test } from 'vitest';
import { sha256 } from '#shared/crypto/hash.ts';
import { countOutcomes } from '#partners/receipts/recent-outcomes.ts';
import { outcomes } from '#partners/receipts/receipt.ts';
import type { NewReceipt } from '#partners/intake/accept-delivery.ts';
import { operatorsOf, type ReceiptScope } from '../support/partners.ts';
import type { Database } from '#shared/database.ts';

const HOUR = 3_600_000;
const AT = 400_000 * HOUR;

type NewOutcome = NewReceipt['events'][number]['outcome'];
type Fixture = { database: Database; store: ReceiptScope };

let serial = 0;

function delivery(receivedAt: number, ...given: NewOutcome[]): NewReceipt {
  serial += 1;
  return {
    id: `00000000-0000-4000-8000-${String(serial).padStart(12, '0')}`,
    path: 'deletions',
    partnerId: 'crm-one',
    eventType: 'batch',
    correlationId: 'c',
    receivedAt,
    createdBefore: receivedAt,
    events: given.map((outcome, position) => ({
      position,
      outcome,
      names: [],
      payload: Buffer.from('x'),
      digest: Buffer.alloc(32),
      sameEventKey: sha256(`${serial}/${position}`),
    })),
  };
}

/** Counts of every engine. */
export function describeOutcomeCounts(engine: string, open: () => Promise<Fixture>): void {
  describe(`counts of outcomes in ${engine}`, () => {
    test('each event counts in the span in which it came, by its outcome', async () => {
      const { database, store } = await open();
      await store.accept(delivery(AT - 1, 'IGNORED'));
      await store.accept(delivery(AT, 'IGNORED', 'PENDING'));
      await store.accept(delivery(AT + HOUR - 1, 'REJECTED', 'IGNORED'));
      await store.accept(delivery(AT + 2 * HOUR, 'PENDING'));
      await store.accept(delivery(AT + 9 * HOUR, 'PENDING'));
      expect(await countOutcomes(database, [AT, AT + HOUR, AT + 2 * HOUR], outcomes)).toEqual([
        { IGNORED: 2, PENDING: 1, REJECTED: 1 },
        {},
        { PENDING: 2 },
      ]);
    });

    test('outcomes that nobody asks about are not counted', async () => {
      const { database, store } = await open();
      await store.accept(delivery(AT, 'IGNORED', 'REJECTED'));
      expect(await countOutcomes(database, [AT], ['IGNORED', 'FAILED'])).toEqual([{ IGNORED: 1 }]);
    });

    test('what was acknowledged counts by itself', async () => {
      const { database, store } = await open();
      const { receipt } = await store.accept(delivery(AT, 'REJECTED', 'IGNORED'));
      await store.accept(delivery(AT + HOUR, 'REJECTED'));
      const actor = { kind: 'cli', subject: 'ada' } as const;
      await operatorsOf(database, AT).acknowledge(receipt.id, { actor });
      expect(await countOutcomes(database, [AT, AT + HOUR], ['REJECTED'], 'acknowledged')).toEqual([
        { REJECTED: 1 },
        {},
      ]);
      expect(await countOutcomes(database, [AT], ['REJECTED'])).toEqual([{ REJECTED: 2 }]);
    });

    test('without receipts, or none since, all spans are empty', async () => {
      const { database, store } = await open();
      expect(await countOutcomes(database, [AT, AT + HOUR], outcomes)).toEqual([{}, {}]);
      await store.accept(delivery(AT - 1, 'IGNORED'));
      expect(await countOutcomes(database, [AT, AT + HOUR], outcomes)).toEqual([{}, {}]);
      expect(await countOutcomes(database, [], outcomes)).toEqual([]);
    });
  });
}
