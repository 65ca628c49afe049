import { payloadIdentity } from '#partners/receipts/payload.ts';
import type { EventStep, Outcome } from '#partners/receipts/receipt.ts';
import type { NewEvent } from '#partners/receipts/receipt-store.ts';
import { effectOfRepeat } from '#partners/receipts/same-event.ts';
import type { RepeatEffect } from '#partners/receipts/same-event.ts';
import { toLeadIds } from '../claims/claim-leads.ts';
import { AS_NEW, LASTING_NOTE, REQUEUE_REPEATED } from './requeue.ts';
import type { Writing } from './insert.ts';
import { REFRESH_RECEIPT_STATUS } from './status.ts';

const REQUEUE_SETTLED = `
  UPDATE event SET ${AS_NEW}, progress = NULL, payload = @payload WHERE id = @event`;

/**
 * What an operator gave back is given back for the deliveries before: one that comes now is a new request.
 * Parameter: the event's id.
 */
const FORGET_RELEASES = `DELETE FROM claim WHERE event = ? AND releasedAt IS NOT NULL`;

const REFRESH_NOTE = `UPDATE event SET note = ${LASTING_NOTE} WHERE id = ? AND note IS NOT NULL`;

const SET_LEADS = `UPDATE event SET leadIds = ? WHERE id = ?`;

/** An event that a late lead has opened again has no payload any more: this one is as good. */
const MARK_AGAIN = `UPDATE event SET again = ?, payload = coalesce(payload, ?) WHERE id = ?`;

/** The event as it was first accepted. */
export type SameEvent = {
  event: number;
  receipt: number;
  receiptId: string;
  position: number;
  outcome: Outcome;
  isBegun: 0 | 1;
};

export type Repeat = { event: NewEvent; before: SameEvent };

/** Returns whether the event waits for the worker because of this repeat. */
export function createRepeatWorker({ handle, sealer, claims }: Writing) {
  const requeueSettled = handle.prepare(REQUEUE_SETTLED);
  const markAgain = handle.prepare<[number, Buffer, number]>(MARK_AGAIN);
  const requeueRepeated = handle.prepare<[{ event: number; lease: null }]>(REQUEUE_REPEATED);
  const forgetReleases = handle.prepare<[number]>(FORGET_RELEASES);
  const refreshNote = handle.prepare<[number]>(REFRESH_NOTE);
  const refreshStatus = handle.prepare(REFRESH_RECEIPT_STATUS);
  const setLeads = handle.prepare<[string | null, number]>(SET_LEADS);
  const queue = (
    { event, before }: Repeat,
    { effect, now }: { effect: Exclude<RepeatEffect, 'nothing'>; now: number },
  ): boolean => {
    const identity = payloadIdentity(before.receiptId, before.position);
    const payload = sealer.seal(identity, event.payload);
    if (effect === 'queue') {
      const step = JSON.stringify({ at: now, what: 'repeated' } satisfies EventStep);
      requeueSettled.run({ now, payload, event: before.event, step });
      refreshStatus.run(before.receipt);
      return true;
    }
    markAgain.run(now, payload, before.event);
    const isStarted = requeueRepeated.run({ event: before.event, lease: null }).changes > 0;
    return isStarted && before.isBegun === 1; // else it has waited for the worker before
  };
  return (repeat: Repeat, now: number): boolean => {
    const { event, before } = repeat;
    const effect = effectOfRepeat(event, before.outcome);
    if (effect === 'nothing') return false;
    if (forgetReleases.run(before.event).changes > 0) refreshNote.run(before.event);
    const isQueued = queue(repeat, { effect, now });
    claims.claim(before, claims.find(event.names), now);
    setLeads.run(toLeadIds(claims.held(before)), before.event);
    return isQueued;
  };
}
