/**
 * Identities in the form in which they are compared. The lead directory and the matching of partners'
 * events use these same functions, so that both sides always agree. Lengths are looked at
 * first: strangers write these texts.
 */
import { withoutInvisible } from '#shared/text/visible.ts';
import { addressesIn } from './email-address.ts';

/**
 * Grows with every change of how bodies are read or identities compared: it asks for a new crawl. An identity
 * that an older version gave still finds its lead, but is no proof that the lead is another person's.
 */
export const READING_VERSION = 6;

declare const comparable: unique symbol;

/**
 * Something a partner can know a lead by, besides its number. The mark says that the value has the form in
 * which identities are compared: the functions below alone make one.
 */
export type LeadIdentity = { readonly [comparable]: true } & (
  | { kind: 'correlation-id'; value: string }
  | { kind: 'external-id'; partnerId: string; value: string }
  | { kind: 'email'; value: string }
);

const LEAD_ID_CHARACTERS_MAX = 64;

/**
 * No leading zeros: what is padded is a number of the partner's own. Fifteen digits are as many as a
 * number always keeps, and so one that no issue has stays a number of none.
 */
const TYPED_LEAD_ID = /^(?:#\s*)?([1-9]\d{0,14})$/;

/** A lead's number, with or without `#` and blanks; undefined for what names none. */
export function parseLeadId(text: string): number | undefined {
  if (text.length > LEAD_ID_CHARACTERS_MAX) return undefined;
  const digits = TYPED_LEAD_ID.exec(withoutInvisible(text).trim())?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** An identity for each e-mail address in a text: people type two into one field, or a word beside one. */
export function emailsIn(text: string): LeadIdentity[] {
  return addressesIn(text).map((value) => ({ kind: 'email', value }) as LeadIdentity);
}

/** Undefined for a text that nobody can see. */
export function correlationIdIn(text: string): LeadIdentity | undefined {
  const id = withoutInvisible(text).trim();
  return id === ''
    ? undefined
    : ({ kind: 'correlation-id', value: guidIn(id) ?? id } as LeadIdentity);
}

/** Undefined for a text that nobody can see. */
export function externalIdIn(partnerId: string, text: string): LeadIdentity | undefined {
  const id = withoutInvisible(text).trim();
  const value = guidIn(id) ?? salesforceIdIn(id) ?? id;
  return id === '' ? undefined : ({ kind: 'external-id', partnerId, value } as LeadIdentity);
}

const GUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Its case and the braces around it mean nothing. */
function guidIn(id: string): string | undefined {
  if (id.length > '{}'.length + 36) return undefined;
  const guid = id.replace(/^\{(.*)\}$/, '$1').toLowerCase();
  return GUID.test(guid) ? guid : undefined;
}

const SALESFORCE_ID = /^([A-Z\d]{15})([A-Z0-5]{3})$/;
const SUFFIX_SIGNS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345';

/**
 * The 15 characters of a Salesforce id of 18. Its last three say which of the others are capitals, five each,
 * the first by the lowest bit: so an id whose case was lost is known, too.
 */
function salesforceIdIn(id: string): string | undefined {
  const [, letters = '', suffix] = SALESFORCE_ID.exec(id.toUpperCase()) ?? [];
  if (suffix === undefined) return undefined;
  const isCapital = (place: number): boolean => {
    const capitals = SUFFIX_SIGNS.indexOf(suffix.charAt(Math.floor(place / 5)));
    return ((capitals >> (place % 5)) & 1) === 1;
  };
  const places = Array.from(letters, (letter, place) => ({ letter, place }));
  if (places.some(({ letter, place }) => isCapital(place) && /\d/.test(letter))) return undefined;
  return places
    .map(({ letter, place }) => (isCapital(place) ? letter : letter.toLowerCase()))
    .join('');
}
