import { expect, test } from 'vitest';
import {
  packDelivery,
  unpackAcceptance,
  unpackDelivery,
} from '#adapters/sqlite/receipt/packed-delivery.ts';
import type { PackedDelivery } from '#adapters/sqlite/receipt/packed-delivery.ts';
import { decode, encode } from '#adapters/sqlite/writer/messages.ts';
import type { NewEvent, NewReceipt } from '#partners/receipts/receipt-store.ts';

const bare: NewEvent = {
  position: 0,
  outcome: 'IGNORED',
  sameEventKey: Buffer.from('key of the first'),
  names: [],
  payload: Buffer.from(''),
};

const full: NewEvent = {
  position: 1,
  eventType: 'lead.deletion',
  eventId: 'e-1',
  externalId: 'x-1',
  outcome: 'REJECTED',
  lastError: 'names-nobody',
  sameEventKey: Buffer.from('key of the second'),
  idKeys: { id: Buffer.from('id'), person: Buffer.from('person') },
  names: [
    { kind: 'lead-id', number: 7 },
    { kind: 'email', hash: Buffer.from('hash') },
  ],
  payload: Buffer.from('{"a":"ä"}'),
};

const bareReceipt: NewReceipt = {
  id: 'r-1',
  partnerId: 'crm-one',
  path: 'deletions',
  eventType: 'batch',
  correlationId: 'c-1',
  receivedAt: 1,
  events: [bare, full],
};

test.each([
  bareReceipt,
  { ...bareReceipt, externalId: 'x-1', traceparent: '00-a-b-01' },
  { ...bareReceipt, events: [] },
])('a delivery is the same behind the message that it goes in', (delivery) => {
  const message = encode([
    { kind: 'write', id: 1, family: 1, name: 'accept', input: [packDelivery(delivery)] },
  ]);
  expect(message).not.toBeInstanceOf(Uint8Array);
  const [request] = decode(structuredClone(message)) as readonly { input: PackedDelivery[] }[];
  const [packed] = request?.input ?? [];
  if (!packed) throw new Error('no delivery');
  expect(unpackDelivery(packed)).toEqual(delivery);
});

test('what was written of it is told by positions', () => {
  const all = unpackAcceptance(bareReceipt, { queued: 1 });
  expect(all).toMatchObject({ kind: 'accepted', queued: 1, written: [bare, full] });
  const some = unpackAcceptance(bareReceipt, { queued: 0, written: [1] });
  expect(some).toMatchObject({ kind: 'accepted', written: [full] });
});
