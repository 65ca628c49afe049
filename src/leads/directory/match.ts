import type { KeyObject } from 'node:crypto';
import { MINUTE } from '#shared/clock.ts';
import type { LeadIdentity } from '../model/identity.ts';
import { type HashedIdentity, type IdentityKind, toHashedIdentity } from './lead-directory.ts';

/** A name of an event in the form in which the lead directory keeps identities. */
export type MatchName = { kind: 'lead-id'; number: number } | HashedIdentity;

/** The names with keyed hashes in place of personal data, in the same order. */
export function toMatchNames(
  names: readonly (LeadIdentity | Extract<MatchName, { kind: 'lead-id' }>)[],
  directoryKey: KeyObject,
): MatchName[] {
  return names.map((name) =>
    name.kind === 'lead-id' ? name : toHashedIdentity(directoryKey, name),
  );
}

/** The kinds of names by which an event looks for its lead, as a store keeps them: with a space between. */
export function toNameKinds(names: readonly MatchName[]): string | null {
  return [...new Set(names.map(kindOf))].join(' ') || null;
}

type NameKind = 'lead-id' | 'correlation-id' | 'external-id' | 'email';

function kindOf({ kind }: MatchName): NameKind {
  return kind.replace(/^weak-|\/.*$/gu, '') as NameKind;
}

/** The knowledge of the lead directory. Synchronous, so that it can be read inside a transaction. */
export type DirectoryView = {
  has(number: number): boolean;
  /** Time of the lead's creation, in ms; 0 when that is not known; undefined for a lead that no name finds. */
  createdAt(number: number): number | undefined;
  /** Numbers of the leads with this identity, in ascending order. */
  find(hash: Buffer): readonly number[];
  /** The lead's identities, without the kind of those that today's rule has not given; none for an unknown lead. */
  identitiesOf(number: number): readonly { kind: IdentityKind | null; hash: Buffer }[];
};

export type Match = {
  /** The leads of the first kind of name that has any, in ascending order. */
  leads: readonly number[];
  /** The kind of name that found them; absent without leads. */
  by?: NameKind;
  /** Named, but left alone: they are another person's, or got the number that a lead id names too late. */
  conflicts: readonly number[];
};

/** Times of an event, in ms. */
export type EventTimes = {
  /** By the tracker's clock: no lead that was created later is meant. */
  createdBefore: number;
  /** An operator may bring in what happened long before; a lead that was there by now can be named by its number. */
  receivedAt: number;
};

const NUMBER_TOLERANCE_MS = MINUTE;

/** Latest creation of a lead that a name can mean, in ms. Nobody else has the number of a lead id, and clocks differ. */
export function latestMeant(isLeadId: boolean, { createdBefore, receivedAt }: EventTimes): number {
  return isLeadId ? Math.max(createdBefore, receivedAt) + NUMBER_TOLERANCE_MS : createdBefore;
}

/**
 * The leads that the first kind of name finds that has any; each of several e-mail addresses names somebody. None
 * that was created after `createdBefore` is taken: who comes back is another lead, and nobody knew a number
 * before it was there. A lead that a lead id or a correlation id names is left alone when it is known to belong to
 * another person than the event's e-mail or external id says: many systems have an id of their own under such a
 * name. Both the acceptance of a deletion and its later matches decide by this one rule.
 */
export function matchLeads(
  names: readonly MatchName[],
  directory: DirectoryView,
  times: EventTimes,
): Match {
  const person = names.filter(isOfPerson);
  const conflicts: number[] = [];
  const isTaken = (name: MatchName, number: number): boolean => {
    const latest = latestMeant(isLeadId(name), times);
    const isTooNew = (directory.createdAt(number) ?? 0) > latest;
    const isAnother = !isOfPerson(name) && belongsToAnother(directory.identitiesOf(number), person);
    if (isAnother || (isTooNew && isLeadId(name))) conflicts.push(number);
    return !isAnother && !isTooNew;
  };
  for (const [by, ofKind] of Map.groupBy(names, kindOf)) {
    const found = ofKind.flatMap((name) =>
      findByName(name, directory).filter((number) => isTaken(name, number)),
    );
    const leads = [...new Set(found)].sort((left, right) => left - right);
    if (leads.length > 0) return { leads, by, conflicts };
  }
  return { leads: [], conflicts };
}

/**
 * The leads to claim when a deletion is accepted, before the directory is caught up. A lead id needs
 * no directory: a lead that is not known yet is claimed by its number, and so is what the other names
 * find, should that number turn out to be no lead.
 */
export function leadsToClaim(
  names: readonly MatchName[],
  directory: DirectoryView,
  times: EventTimes,
): number[] {
  const unknown = names.filter(isLeadId).map(({ number }) => number);
  const known = matchLeads(names, directory, times).leads;
  return [...unknown.filter((number) => !directory.has(number)), ...known];
}

function findByName(name: MatchName, directory: DirectoryView): readonly number[] {
  if (!isLeadId(name)) return directory.find(name.hash);
  return directory.has(name.number) ? [name.number] : [];
}

function isLeadId(name: MatchName): name is Extract<MatchName, { kind: 'lead-id' }> {
  return name.kind === 'lead-id';
}

/** An e-mail or an external id: it names a person, who may have several leads. */
function isOfPerson(name: MatchName): name is HashedIdentity {
  return !isLeadId(name) && kindOf(name) !== 'correlation-id';
}

/**
 * It has identities of a kind that the event names, read by today's rule, and none of its identities is the
 * event's. What is weak on both sides proves nothing.
 */
function belongsToAnother(
  own: readonly { kind: IdentityKind | null; hash: Buffer }[],
  person: readonly HashedIdentity[],
): boolean {
  const isSame = person.some(({ hash }) => own.some((identity) => identity.hash.equals(hash)));
  return (
    !isSame &&
    person.some(
      ({ kind }) => !kind.startsWith('weak-') && own.some((identity) => identity.kind === kind),
    )
  );
}
