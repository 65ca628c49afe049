import type { KeyObject } from 'node:crypto';
import {
  correlationIdIn,
  emailsIn,
  externalIdIn,
  type LeadIdentity,
  parseLeadId,
} from '#leads/model/identity.ts';
import { isOnCalendar, SECOND } from '#shared/clock.ts';
import { hmacSha256 } from '#shared/crypto/hash.ts';
import { isRecord, valueAt } from '#shared/text/json.ts';
import { isVisible } from '#shared/text/visible.ts';
import type { Action, EventRule, FieldName, Partner } from './partner.ts';
import {
  type EventErrorCode,
  isDeletion,
  type Outcome,
  type PartnerPath,
} from './receipts/receipt.ts';

const CONTACT_DELETION = 'contact.deletion';
const PRIVACY_DELETION = 'contact.privacyDeletion';
const OBJECT_TYPES: Readonly<Record<string, string>> = {
  'object.deletion': CONTACT_DELETION,
  'object.merge': 'contact.merge',
};
/** More in one event is refused: a contact of HubSpot's can be merged so often in its life. */
const MERGED_IDS_MAX = 250;
/** The object type of a contact. @see https://developers.hubspot.com/docs/guides/crm/understanding-the-crm#object-type-ids */
const CONTACT_OBJECT_TYPE = '0-1';

/**
 * An event as it was read by the partner's pointers. Values are as they were sent, numbers as text. A
 * text that nobody can see is none, and so is an e-mail without an address in it: `n/a` and `-` name nobody.
 */
export type PartnerEvent = {
  /** `unreadable`: there is a type, but it is neither text nor number. */
  type: { kind: 'none' } | { kind: 'unreadable' } | { kind: 'named'; name: string };
  /** The type that is looked up: `object.deletion` of a contact is a `contact.deletion`. */
  canonicalType?: string;
  eventId?: string;
  externalId?: string;
  account?: string;
  leadId?: string;
  correlationId?: string;
  /** Each address of its e-mail value. */
  emails?: readonly LeadIdentity[];
  occurredAt?: string;
  /** External ids of people whom the event makes one, and the one that is left. */
  merge?: { from: readonly string[]; to: string };
};

/** The parsed element as an event; undefined for anything but an object. */
export function readEvent(fields: Partner['fields'], element: unknown): PartnerEvent | undefined {
  if (!isRecord(element)) return undefined;
  const type = readType(fields, element);
  const event: PartnerEvent = { type };
  if (type.kind === 'named') event.canonicalType = toCanonicalType(type.name, element);
  for (const name of identifiers) {
    const text = pick(fields, name, element);
    if (text !== undefined) event[name] = text;
  }
  const emails = emailsIn(pick(fields, 'email', element) ?? '');
  if (emails.length > 0) event.emails = emails;
  const to = pick(fields, 'mergedTo', element);
  const from = (fields.mergedFrom ?? [])
    .flatMap((pointer) => valueAt(element, pointer))
    .flatMap((value) => toText(value) ?? []);
  if (to !== undefined && from.length > 0) event.merge = { from: [...new Set(from)], to };
  return event;
}

const identifiers = [
  'eventId',
  'externalId',
  'account',
  'leadId',
  'correlationId',
  'occurredAt',
] as const satisfies readonly FieldName[];

function readType(fields: Partner['fields'], element: object): PartnerEvent['type'] {
  const name = pick(fields, 'eventType', element);
  if (name !== undefined) return { kind: 'named', name };
  const isThere = (fields.eventType ?? []).some((pointer) => {
    const value = valueAt(element, pointer);
    return value !== undefined && value !== null && value !== '';
  });
  return { kind: isThere ? 'unreadable' : 'none' };
}

function toCanonicalType(name: string, element: object): string {
  const isContact = toText(valueAt(element, '/objectTypeId')) === CONTACT_OBJECT_TYPE;
  return (isContact && OBJECT_TYPES[name]) || name;
}

/** The first of the field's pointers that leads to text or a number. */
function pick(
  fields: Partner['fields'],
  name: keyof Partner['fields'],
  element: object,
): string | undefined {
  for (const pointer of fields[name] ?? []) {
    const text = toText(valueAt(element, pointer));
    if (text !== undefined) return text;
  }
  return undefined;
}

function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return isVisible(value) ? value : undefined;
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  return Number.isInteger(value) ? BigInt(value).toString() : String(value);
}

/** Reason for which an event is REJECTED. */
type Rejection = Extract<EventErrorCode, 'not-an-object' | 'names-nobody' | 'too-many-ids'>;

export type Decision =
  | { outcome: 'PENDING' }
  | { outcome: 'DONE'; note: 'merged' }
  | { outcome: 'IGNORED' }
  | { outcome: 'REJECTED'; reason: Rejection };

/** Decides on an event before anything is looked up. The type is checked before identity. */
export function decide(
  partner: Partner,
  path: PartnerPath,
  event: PartnerEvent | undefined,
): Decision {
  if (event === undefined) return { outcome: 'REJECTED', reason: 'not-an-object' };
  if (isOfType(event, partner.mergeTypes)) return decideMerge(event);
  const isOfUse = isDeletion({ path }) ? deletes(partner, event) : ruleFor(partner, event);
  if (!isOfUse) return { outcome: 'IGNORED' };
  if (!namesSomebody(event)) return { outcome: 'REJECTED', reason: 'names-nobody' };
  return { outcome: 'PENDING' };
}

function decideMerge({ merge }: PartnerEvent): Decision {
  if (!merge) return { outcome: 'REJECTED', reason: 'names-nobody' };
  if (merge.from.length > MERGED_IDS_MAX) return { outcome: 'REJECTED', reason: 'too-many-ids' };
  return { outcome: 'DONE', note: 'merged' };
}

function deletes(partner: Partner, event: PartnerEvent): boolean {
  const { types } = partner.deletions;
  return event.type.kind === 'none' || types.includes('*') || isOfType(event, types);
}

/** The first rule that fits. An event without a type is one of `*`. */
export function ruleFor({ events }: Partner, event: PartnerEvent): EventRule | undefined {
  return events.find(({ type }) => type === '*' || isOfType(event, [type]));
}

function isOfType({ type, canonicalType }: PartnerEvent, types: readonly string[]): boolean {
  if (type.kind !== 'named') return false;
  return [type.name, canonicalType].some((name) => types.includes(name ?? ''));
}

/** True of every event that is accepted to be worked on. */
export function namesSomebody(event: PartnerEvent): boolean {
  const { leadId, correlationId, externalId, emails } = event;
  return [leadId, correlationId, externalId, emails].some((value) => value !== undefined);
}

/** A name by which an event knows a lead. */
export type Name = { kind: 'lead-id'; number: number } | LeadIdentity;

/** Names of the event, in the order of matching: the first that finds a lead decides. */
export function namesOf(partnerId: string, event: PartnerEvent): Name[] {
  const { leadId, correlationId, externalId, emails = [] } = event;
  const number = leadId === undefined ? undefined : parseLeadId(leadId);
  const names: (Name | undefined)[] = [
    number === undefined ? undefined : { kind: 'lead-id', number },
    correlationId === undefined ? undefined : correlationIdIn(correlationId),
    externalId === undefined ? undefined : externalIdIn(partnerId, externalId),
    ...emails,
  ];
  return names.filter((name) => name !== undefined);
}

/** Actions of the partner's deletions, or of those of a person who asks for erasure. */
export function actionsFor({ deletions }: Partner, event: PartnerEvent): readonly Action[] {
  return isPrivacyDeletion(event) ? deletions.privacy : deletions.actions;
}

/** True when the sender asks for erasure, not only for removal. */
export function isPrivacyDeletion(event: PartnerEvent): boolean {
  return event.canonicalType === PRIVACY_DELETION;
}

/**
 * Time at which it happened, by the partner's clock, in ms since the Unix epoch: RFC 3339 (an offset may lack its
 * colon), or digits of a Unix time in seconds or milliseconds. Undefined: it does not say so, or leaves the zone open.
 */
export function occurredAt({ occurredAt: text = '' }: PartnerEvent): number | undefined {
  const unixTime = /^\d{10}(\d{3})?$/.exec(text);
  if (unixTime) return Number(text) * (unixTime[1] === undefined ? SECOND : 1);
  const [, time, hours, minutes] =
    /^(\d{4}-\d\d-\d\dt[\d:.]+)(?:z|([+-]\d\d):?(\d\d))$/i.exec(text) ?? [];
  if (time === undefined || !isOnCalendar(time.slice(0, 16))) return undefined;
  const instant = Date.parse(time + (hours === undefined ? 'Z' : `${hours}:${minutes}`));
  return Number.isNaN(instant) ? undefined : instant;
}

/** Keyed hashes by which an event is known again. */
export type EventKeys = {
  /** Of all that makes two events the same. */
  sameEventKey: Buffer;
  /** There when the event has an id of its own. */
  idKeys?: EventIdKeys;
};

/** By these it is noticed that an event id comes again with another person. */
export type EventIdKeys = {
  /** Of the id and where it counts: partner, path, account and type. */
  id: Buffer;
  /** Of all that names the person. */
  person: Buffer;
};

const ID_KEY_BYTES = 16;

/**
 * Two events are the same, with an event id: by partner, path, account, type, event id, time of
 * occurrence and all that names the person, for ids come again with another one. Without an id: by
 * partner, path and the event's bytes. Attempt numbers, subscriptions, timestamps and signatures
 * change between tries of the same event, so they are no part of it.
 */
export function eventKeys(
  key: KeyObject,
  origin: { partnerId: string; path: PartnerPath },
  event: PartnerEvent | undefined,
  bytes: Buffer,
): EventKeys {
  const place = ['same-event', origin.partnerId, origin.path];
  if (event?.eventId === undefined) {
    const prefix = Buffer.from(JSON.stringify([...place, 'bytes']));
    return { sameEventKey: hmacSha256(key, Buffer.concat([prefix, bytes])) };
  }
  const { account, eventId, occurredAt, type } = event;
  const name = type.kind === 'named' ? type.name : null;
  const id = [...place, 'id', ...[account, name, eventId].map((part) => part ?? null)];
  const person = personOf(origin.partnerId, event);
  return {
    sameEventKey: hmacSha256(key, JSON.stringify([...id, occurredAt ?? null, ...person])),
    idKeys: {
      id: hmacSha256(key, JSON.stringify(id)).subarray(0, ID_KEY_BYTES),
      person: hmacSha256(key, JSON.stringify(['person', ...person])).subarray(0, ID_KEY_BYTES),
    },
  };
}

/** All that names the person, in the form in which identities are compared. */
function personOf(partnerId: string, event: PartnerEvent): (string | null)[] {
  const { externalId, leadId, correlationId, emails = [] } = event;
  return [
    leadId === undefined ? null : String(parseLeadId(leadId) ?? leadId),
    correlationIdIn(correlationId ?? '')?.value ?? null,
    externalIdIn(partnerId, externalId ?? '')?.value ?? null,
    emails
      .map(({ value }) => value)
      .sort()
      .join(' ') || null,
    ...(event.merge ? [event.merge.to, ...event.merge.from] : []),
  ];
}

/**
 * The effect of a repeat: `nothing` for a redelivery; `queue` works the event as if it had just come,
 * `again` has one that still waits, or is worked on, looked at anew.
 */
export type RepeatEffect = 'nothing' | 'queue' | 'again';

/**
 * An event without an id may be a new request with the same bytes, also while the first one waits; one
 * that ended without effect gets another chance; all else is a redelivery. `before`: its outcome so far.
 */
export function effectOfRepeat(
  event: Pick<EventKeys, 'idKeys'> & { outcome: Outcome },
  before: Outcome,
): RepeatEffect {
  const isRedelivery = event.idKeys !== undefined && (before === 'PENDING' || before === 'DONE');
  if (event.outcome !== 'PENDING' || isRedelivery) return 'nothing';
  return before === 'PENDING' ? 'again' : 'queue';
}
