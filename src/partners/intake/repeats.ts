import { type EventStep, type Outcome, payloadIdentity } from '../receipts/receipt.ts';
import {
  effectOfRepeat,
  type NewEvent,
  type NewReceipt,
  type RepeatEffect,
} from './new-receipt.ts';
import { toLeadIds, forgetNames } from '#leads/claims/claim-leads.ts';
import type { Statements } from '#shared/database.ts';
import { toJson, toRecords } from '#shared/sql.ts';
import { askedAtOf, toKeyRow, type Writing } from './insert-deliveries.ts';
import {
  AS_NEW,
  LASTING_NOTE,
  REFRESH_RECEIPT_STATUS,
  REQUEUE_REPEATED,
  SET_LEADS,
} from '../receipts/requeue.ts';

/** Most events are new: each is looked up in the index, and only what is there is read. */
const FIND_SAME_EVENTS = `
  SELECT place, event FROM (
    SELECT place, (SELECT event FROM same_event
      WHERE same_event.id_key = given.id_key AND same_event.person_key = given.person_key
        AND same_event.key = given.key) AS event
    FROM jsonb_to_recordset(@events)
      AS given (place integer, id_key bytea, person_key bytea, key bytea)
  ) AS found WHERE event IS NOT NULL`;

const READ_SAME_EVENTS = `
  SELECT event.id AS event, event.receipt, event.position, event.outcome, receipt.id AS receipt_id
  FROM event JOIN receipt ON receipt.number = event.receipt
  WHERE event.id = ANY(@events::bigint[])`;

/** True when a worker has looked at it: then a repeat makes new work, else it waits in the queue already. */
const IS_BEGUN = `
  SELECT lease_token IS NOT NULL OR progress IS NOT NULL AS is_begun
  FROM event WHERE id = @event`;

/** A repeat counts from its own call; one that was brought in by hand takes nothing back. */
const ASKED_ANEW = `
  created_before = greatest(coalesce(created_before, 0), @createdBefore), actions = @actions`;

const REQUEUE_SETTLED = `
  UPDATE event SET ${AS_NEW}, progress = NULL, payload = @payload, ${ASKED_ANEW}
  WHERE id = @event`;

/** A release counts against the deliveries that came before it: the partner asks anew with this one. */
const FORGET_RELEASES = 'DELETE FROM claim WHERE event = @event AND released_at IS NOT NULL';

const REFRESH_NOTE = `
  UPDATE event SET note = ${LASTING_NOTE} WHERE id = @event AND note IS NOT NULL`;

/** An event that a late lead has opened again has no payload any more: this one is as good. */
const MARK_AGAIN = `
  UPDATE event SET again = @now, payload = coalesce(payload, @payload), ${ASKED_ANEW} WHERE id = @event`;

/** The event as it was first accepted. */
export type SameEvent = {
  event: number;
  receipt: number;
  receiptId: string;
  position: number;
  outcome: Outcome;
};

export type Repeat = { event: NewEvent; before: SameEvent };

/** Those of these events that came before. */
export async function findSameEvents(
  session: Statements,
  events: readonly NewEvent[],
): Promise<Map<NewEvent, SameEvent>> {
  if (events.length === 0) return new Map();
  const keys = events.map((event, place) => ({ ...toKeyRow(event), place }));
  const found = await session.all<{ place: number; event: number }>(FIND_SAME_EVENTS, {
    events: toRecords(keys),
  });
  if (found.length === 0) return new Map();
  const before = await session.all<SameEvent>(READ_SAME_EVENTS, {
    events: found.map(({ event }) => event),
  });
  const byId = new Map(before.map((same) => [same.event, same]));
  return new Map(
    found.map(({ place, event }) => [events[place] as NewEvent, byId.get(event) as SameEvent]),
  );
}

/** Returns whether the event waits for the worker because of this repeat. */
export async function workRepeat(
  writing: Writing,
  repeat: Repeat,
  delivery: NewReceipt,
): Promise<boolean> {
  const { session, claims } = writing;
  const { event, before } = repeat;
  const { path, receivedAt: now } = delivery;
  const askedAt = askedAtOf(event, delivery);
  const effect = effectOfRepeat(event, before.outcome);
  if (effect === 'nothing') return false;
  const owner = { event: before.event };
  if ((await session.run(FORGET_RELEASES, owner)) > 0) await session.run(REFRESH_NOTE, owner);
  const isQueued = await queue(writing, repeat, { effect, now, ...askedAt });
  const { names } = event;
  const leads = claims.find(names, askedAt);
  if (path === 'deletions') {
    await forgetNames(session, before.event);
    const deletion = { ...before, names, leads, at: now };
    await claims.claim([deletion]);
    claims.stand([deletion]);
  }
  const has = path === 'deletions' ? await claims.claimedBy(before.event) : leads;
  await session.run(SET_LEADS, { ...owner, leadIds: toLeadIds(has) });
  return isQueued;
}

async function queue(
  { session, sealer }: Writing,
  { event, before }: Repeat,
  {
    effect,
    ...call
  }: { effect: Exclude<RepeatEffect, 'nothing'>; now: number; createdBefore: number },
): Promise<boolean> {
  const owner = { event: before.event };
  const identity = payloadIdentity(before.receiptId, before.position);
  const step = JSON.stringify({ at: call.now, what: 'repeated' } satisfies EventStep);
  const payload = sealer.seal(identity, event.payload);
  const values = { ...owner, ...call, step, payload, actions: toJson(event.actions) };
  if (effect === 'queue') {
    await session.run(REQUEUE_SETTLED, values);
    await session.run(REFRESH_RECEIPT_STATUS, { receipts: [before.receipt] });
    return true;
  }
  const row = await session.get<{ isBegun: boolean }>(IS_BEGUN, owner);
  await session.run(MARK_AGAIN, values);
  const isStarted = (await session.run(REQUEUE_REPEATED, { ...owner, lease: undefined })) > 0;
  return isStarted && row?.isBegun === true;
}
