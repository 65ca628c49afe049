import { payloadIdentity } from '#partners/receipts/payload.ts';
import type { EventStep, Outcome } from '#partners/receipts/receipt.ts';
import type { NewEvent } from '#partners/receipts/receipt-store.ts';
import { effectOfRepeat } from '#partners/receipts/same-event.ts';
import type { RepeatEffect } from '#partners/receipts/same-event.ts';
import { toLeadIds } from '../claims/claim-leads.ts';
import { REQUEUE_REPEATED } from './requeue.ts';
import type { Writing } from './insert.ts';
import * as sql from './statements.ts';
import { REFRESH_RECEIPT_STATUS } from './status.ts';

/** The event as it was first accepted. */
export type SameEvent = {
  key: Buffer;
  event: number;
  receipt: number;
  receiptId: string;
  position: number;
  outcome: Outcome;
};

export type Repeat = { event: NewEvent; before: SameEvent };

/** Returns whether the event waits for the worker because of this repeat. */
export async function workRepeat(writing: Writing, repeat: Repeat, now: number): Promise<boolean> {
  const { session, claims } = writing;
  const { event, before } = repeat;
  const effect = effectOfRepeat(event, before.outcome);
  if (effect === 'nothing') return false;
  const owner = { event: before.event };
  if ((await session.run(sql.FORGET_RELEASES, owner)) > 0)
    await session.run(sql.REFRESH_NOTE, owner);
  const isQueued = await queue(writing, repeat, { effect, now });
  const leads = claims.find(event.names);
  await claims.claim([{ ...before, leads, at: now }]);
  const leadIds = toLeadIds(await claims.held(before.event));
  await session.run(sql.SET_LEADS, { ...owner, leadIds });
  return isQueued;
}

async function queue(
  { session, sealer }: Writing,
  { event, before }: Repeat,
  { effect, now }: { effect: Exclude<RepeatEffect, 'nothing'>; now: number },
): Promise<boolean> {
  const owner = { event: before.event };
  const identity = payloadIdentity(before.receiptId, before.position);
  const step = JSON.stringify({ at: now, what: 'repeated' } satisfies EventStep);
  const values = { ...owner, now, step, payload: sealer.seal(identity, event.payload) };
  if (effect === 'queue') {
    await session.run(sql.REQUEUE_SETTLED, values);
    await session.run(REFRESH_RECEIPT_STATUS, { receipts: [before.receipt] });
    return true;
  }
  const row = await session.get<{ isBegun: boolean }>(sql.IS_BEGUN, owner);
  await session.run(sql.MARK_AGAIN, values);
  const isStarted = (await session.run(REQUEUE_REPEATED, { ...owner, lease: null })) > 0;
  return isStarted && row?.isBegun === true; // else it has waited for the worker before
}
