import type { HashedIdentity, IdentityKind } from '#leads/directory/lead-directory.ts';

/** A name of an event in the form in which the lead directory keeps identities. */
export type MatchName = { kind: 'lead-id'; number: number } | HashedIdentity;

/** By what an event looks for its lead, as a store keeps it: the kinds alone, with a space between. */
export function toNameKinds(names: readonly MatchName[]): string | null {
  return names.map(({ kind }) => kind.replace(/\/.*/u, '')).join(' ') || null;
}

/** What the lead directory knows. Synchronous, so that it can be read inside a transaction. */
export type DirectoryView = {
  has(number: number): boolean;
  /** When the lead was created, in ms; 0 when that is not known; undefined: no such lead. */
  createdAt(number: number): number | undefined;
  /** Numbers of the leads with this identity, in ascending order. */
  find(hash: Buffer): readonly number[];
  /** The lead's identities; none for a lead that is not known. */
  identitiesOf(number: number): readonly { kind: IdentityKind | null; hash: Buffer }[];
};

export type Match = {
  /** The leads of the first name that has any, in ascending order. */
  leads: readonly number[];
  /** The kind of that name; absent without leads. */
  by?: MatchName['kind'];
  /** Named, but left alone, since they are another person's. */
  conflicts: readonly number[];
};

/**
 * The leads that the first name finds that has any. A lead that a lead id or a correlation id names
 * is left alone when it is known to belong to another person than the event's e-mail or external
 * id says: many systems have an id of their own under such a name. So is one that a lead id names and
 * that was created after `createdBefore` (ms): nobody knew its number when the event was sent. Both
 * the acceptance of a deletion and its later match decide by this one rule.
 */
export function matchLeads(
  names: readonly MatchName[],
  directory: DirectoryView,
  createdBefore = Infinity,
): Match {
  const person = names.filter(isOfPerson);
  const conflicts: number[] = [];
  const isTooNew = (name: MatchName, number: number): boolean =>
    isLeadId(name) && (directory.createdAt(number) ?? 0) > createdBefore;
  for (const name of names) {
    const leads = findByName(name, directory).filter((number) => {
      const isAnother =
        !isOfPerson(name) && belongsToAnother(directory.identitiesOf(number), person);
      const isTaken = !isAnother && !isTooNew(name, number);
      if (!isTaken) conflicts.push(number);
      return isTaken;
    });
    if (leads.length > 0) return { leads, by: name.kind, conflicts };
  }
  return { leads: [], conflicts };
}

/**
 * The leads to claim when a deletion is accepted, before the directory is caught up. A lead id needs
 * no directory: a lead that is not known yet is claimed by its number, and so is what the other names
 * find, should that number turn out to be no lead.
 */
export function leadsToClaim(names: readonly MatchName[], directory: DirectoryView): number[] {
  const unknown = names.filter(isLeadId).map(({ number }) => number);
  const known = matchLeads(names, directory).leads;
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
export function isOfPerson(name: MatchName): name is HashedIdentity {
  return !isLeadId(name) && name.kind !== 'correlation-id';
}

/**
 * It has identities of a kind that the event names, and none of its identities is the event's. What
 * is no e-mail address proves nothing.
 */
function belongsToAnother(
  own: readonly { kind: IdentityKind | null; hash: Buffer }[],
  person: readonly HashedIdentity[],
): boolean {
  const isSame = person.some(({ hash }) => own.some((identity) => identity.hash.equals(hash)));
  return (
    !isSame &&
    person.some(({ kind }) => kind !== 'no-email' && own.some((identity) => identity.kind === kind))
  );
}
