/** Events that came before: found by their keys, and worked once more where that helps. */
import {
  claimedBy,
  forgetDeletionNames,
  putDeletionNames,
  toLeadIds,
} from '#leads/claims/claim-leads.ts';
import type { Statements, Tx } from '#shared/database.ts';
import { toJson, toRecords } from '#shared/sql.ts';
import { effectOfRepeat, type EventIdKeys, type RepeatEffect } from '../event.ts';
import {
  AS_NEW,
  LASTING_NOTE,
  REFRESH_RECEIPT_STATUS,
  REQUEUE_REPEATED,
  SET_LEADS,
} from '../receipts/event-changes.ts';
import {
  type EventStep,
  isDeletion,
  type Outcome,
  payloadIdentity,
  type Receipt,
} from '../receipts/receipt.ts';
import type { NewEvent, NewReceipt } from './accept-delivery.ts';
import { claimNamed, leadsNamed, timesOf, type Writing } from './claim-named.ts';

/** An event as it was first accepted. */
export type SameEvent = {
  event: number;
  receipt: number;
  receiptId: string;
  receivedAt: number;
  position: number;
  outcome: Outcome;
};

export type Repeat = { event: NewEvent; before: SameEvent };

/** Tells of one event after another whether its id came before with another person: each counts from then on. */
export type ReusedIds = (keys: EventIdKeys | undefined) => boolean;

const NOBODY = Buffer.alloc(0);

/**
 * Keys by which an event is known, as columns of `same_event`. Where it has no id, its own key stands for it; events
 * of one id stand side by side.
 */
export function toKeyRow(event: NewEvent): { idKey: Buffer; personKey: Buffer; key: Buffer } {
  const { sameEventKey: key, idKeys } = event;
  return { idKey: idKeys?.id ?? key, personKey: idKeys?.person ?? NOBODY, key };
}

const PERSONS = 'SELECT person_key FROM same_event WHERE same_event.id_key = given.id_key';

/**
 * Most events are new: each is looked up in the index once, and only of an id that is there more is read. Two persons
 * are enough to know: the first and the last in the index, however often the id came.
 */
const FIND_KNOWN = `
  SELECT place, event, lowest, highest FROM (
    SELECT place, (${PERSONS} ORDER BY person_key LIMIT 1) AS lowest,
      (${PERSONS} ORDER BY person_key DESC LIMIT 1) AS highest,
      (SELECT event FROM same_event
        WHERE same_event.id_key = given.id_key AND same_event.person_key = given.person_key
          AND same_event.key = given.key) AS event
    FROM jsonb_to_recordset(@events)
      AS given (place integer, id_key bytea, person_key bytea, key bytea)
  ) AS found WHERE lowest IS NOT NULL`;

const READ_SAME_EVENTS = `
  SELECT event.id AS event, event.receipt, event.position, event.outcome, receipt.id AS receipt_id,
    receipt.received_at
  FROM event JOIN receipt ON receipt.number = event.receipt
  WHERE event.id = ANY(@events::bigint[])`;

type KnownRow = { place: number; event?: number; lowest: Buffer; highest: Buffer };

/** Reads what the store knows of these events and of their ids. */
export async function findKnown(
  db: Statements,
  events: readonly NewEvent[],
): Promise<{ before: ReadonlyMap<NewEvent, SameEvent>; isIdReused: ReusedIds }> {
  const keys = toRecords(events.map((event, place) => ({ ...toKeyRow(event), place })));
  const found = events.length > 0 ? await db.all<KnownRow>(FIND_KNOWN, { events: keys }) : [];
  const own = found.flatMap(({ place, event }) => (event === undefined ? [] : [{ place, event }]));
  const values = { events: own.map(({ event }) => event) };
  const rows = own.length > 0 ? await db.all<SameEvent>(READ_SAME_EVENTS, values) : [];
  const byId = new Map(rows.map((same) => [same.event, same]));
  return {
    before: new Map(
      own.map(({ place, event }) => [events[place] as NewEvent, byId.get(event) as SameEvent]),
    ),
    isIdReused: watchIds(events, found),
  };
}

function watchIds(events: readonly NewEvent[], found: readonly KnownRow[]): ReusedIds {
  const persons = new Map<string, Set<string>>();
  const note = ({ id }: EventIdKeys, person: Buffer): Set<string> => {
    const key = id.toString('latin1');
    const known = persons.get(key) ?? new Set();
    persons.set(key, known);
    return known.add(person.toString('latin1'));
  };
  for (const { place, lowest, highest } of found) {
    const keys = events[place]?.idKeys;
    if (keys) for (const one of [lowest, highest]) note(keys, one);
  }
  return (keys) => keys !== undefined && note(keys, keys.person).size > 1;
}

/** A release counts against the deliveries that came before it: the partner asks anew with this one. */
const FORGET_RELEASES = 'DELETE FROM claim WHERE event = @event AND released_at IS NOT NULL';

const REFRESH_NOTE = `
  UPDATE event SET note = ${LASTING_NOTE} WHERE id = @event AND note IS NOT NULL`;

/** Returns whether the event waits for the worker because of this repeat. */
export async function workRepeat(
  writing: Writing,
  repeat: Repeat,
  receipt: NewReceipt,
): Promise<boolean> {
  const { tx, directory, repositoryId } = writing;
  const { event, before } = repeat;
  const { receivedAt: now } = receipt;
  const times = timesOf(event, receipt, before);
  const effect = effectOfRepeat(event, before.outcome);
  if (effect === 'nothing') return false;
  const owner = { event: before.event };
  if ((await tx.run(FORGET_RELEASES, owner)) > 0) await tx.run(REFRESH_NOTE, owner);
  const isQueued = await queueRepeat(writing, repeat, { effect, now, ...times });
  let leads = leadsNamed(directory, event, times);
  if (isDeletion(receipt)) {
    await forgetDeletionNames(tx, before.event);
    const deletions = [{ ...before, names: event.names, leads, at: now }];
    await claimNamed(tx, { repositoryId, deletions });
    putDeletionNames(tx, { repositoryId, deletions });
    leads = await claimedBy(tx, { repositoryId, ...owner }); // an operator may have given some of them back
  }
  await tx.run(SET_LEADS, { ...owner, leadIds: toLeadIds(leads) });
  return isQueued;
}

/** A repeat counts from its own call; one that was brought in by hand takes nothing back. */
const ASKED_ANEW = `
  created_before = greatest(coalesce(created_before, 0), @createdBefore), actions = @actions`;

const REQUEUE_SETTLED = `
  UPDATE event SET ${AS_NEW}, progress = NULL, payload = @payload, ${ASKED_ANEW}
  WHERE id = @event`;

/** True when a worker has looked at it: then a repeat makes new work, else it waits in the queue already. */
const IS_BEGUN = `
  SELECT lease_token IS NOT NULL OR progress IS NOT NULL AS is_begun
  FROM event WHERE id = @event`;

/** An event that a late lead has opened again has no payload any more: this one is as good. */
const MARK_AGAIN = `
  UPDATE event SET again = @now, payload = coalesce(payload, @payload), ${ASKED_ANEW} WHERE id = @event`;

async function queueRepeat(
  { tx, sealer }: Writing,
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
    await tx.run(REQUEUE_SETTLED, values);
    await tx.run(REFRESH_RECEIPT_STATUS, { receipts: [before.receipt] });
    return true;
  }
  const row = await tx.get<{ isBegun: boolean }>(IS_BEGUN, owner);
  await tx.run(MARK_AGAIN, values);
  const isStarted = (await tx.run(REQUEUE_REPEATED, { ...owner, leaseToken: undefined })) > 0;
  return isStarted && row?.isBegun === true;
}

const READ_ORIGINAL = `
  SELECT id, partner_id, event_type, external_id, correlation_id, received_at
  FROM receipt WHERE number = @receipt`;

/** The receipt as it was first answered, whatever has become of it since. */
export async function readOriginal(tx: Tx, receipt: number): Promise<Receipt> {
  const row = await tx.get<Receipt>(READ_ORIGINAL, { receipt });
  if (!row) throw new Error('an event has no receipt');
  return { ...row, status: 'ACCEPTED' };
}
