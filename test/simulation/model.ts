/** The truth, and who was told what of it: kept beside the service, and by other means. */
import type { IssueRecord } from '#sandbox/tracker/world/model.ts';
import { SECOND } from '#shared/clock.ts';
import type { Person } from './people/bodies.ts';
import type { PartnerId } from './world/settings.ts';

/** By what a lead may be named. */
export type Name =
  | { kind: 'lead-id'; number: number }
  | { kind: 'email' | 'correlation-id'; value: string }
  | { kind: 'external-id'; partner: PartnerId; value: string };

/** A lead as its visitor and those at the tracker know it. */
export type TrueLead = {
  number: number;
  person: Person;
  isOfPortal: boolean;
  createdAt: number;
  isPullRequest: boolean;
  /** Texts that an edit took away, or brought. */
  wasEdited: boolean;
  /** Since when it is approved, and was at every instant. */
  approvedSince: number | undefined;
  /** In what steps claims of it were committed, and given back. */
  claims: { from: number; until?: number }[];
  isGone: boolean;
  /** As it is at the tracker: another object with each change. */
  state: { second: number; wasTold: boolean };
  /** It was met in an older state: behind one of the same second. */
  wasToldBack: boolean;
  /** All that was ever to be seen of it at the tracker. */
  wasLabelled: boolean;
  wasClosed: boolean;
  wasRedacted: boolean;
};

/** One event that a partner has sent. */
export type Sent = {
  partner: PartnerId;
  path: 'events' | 'deletions';
  type: string;
  names: readonly Name[];
  /** Before that it was nowhere. */
  sentAt: number;
  /** It was sent more than once, or is to be worked again: it may mean who came later, too. */
  askedUntil: number;
  eventId: string | undefined;
  receiptId?: string;
  acknowledgedAt?: number;
};

type Merge = { partner: PartnerId; from: string; to: string; acknowledgedAt: number };

export type Model = ReturnType<typeof createModel>;

export function createModel() {
  const leads = new Map<number, TrueLead>();
  const sent: Sent[] = [];
  const merges: Merge[] = [];
  /** Released by an operator, or asked for. */
  const released = new Set<number>();
  /** Claims that were given back: of which deletion, of which lead. */
  const withdrawn = new Set<string>();
  /** In what steps receipts came to their ends. */
  const ended = new Map<string, number>();
  return {
    leads,
    sent,
    merges,
    released,
    withdrawn,
    ended,
    crashes: 0,
    changedAtMs: 0,
    /** Time at which the tracker's quota is renewed. */
    renewedAtMs: 0,

    /** Of a label, which the tracker dates nowhere. */ wasRenamed: false,
    hasLag: false,
  };
}

/** All names of a lead that it ever had. */
export function namesOf({ number, person, isOfPortal }: TrueLead): Name[] {
  const names: Name[] = [
    { kind: 'lead-id', number },
    { kind: 'email', value: person.email },
  ];
  if (!isOfPortal) return names;
  names.push({ kind: 'correlation-id', value: person.correlationId });
  const { crm } = person;
  if (crm) names.push({ kind: 'external-id', partner: crm.partner, value: crm.id });
  return names;
}

/** True when a name means the lead, also by merges that were acknowledged by then. */
export function isNamedBy(model: Model, lead: TrueLead, name: Name, by: number): boolean {
  return namesOf(lead).some((own) => {
    if (own.kind === 'lead-id' || name.kind === 'lead-id')
      return (
        own.kind === name.kind && 'number' in own && 'number' in name && own.number === name.number
      );
    if (own.kind !== name.kind) return false;
    if (own.kind !== 'external-id' || name.kind !== 'external-id') return own.value === name.value;
    return (
      own.partner === name.partner && reaches(model, own.partner, own.value, by).has(name.value)
    );
  });
}

function reaches(model: Model, partner: PartnerId, from: string, by: number): Set<string> {
  const found = new Set([from]);
  for (const id of found)
    for (const merge of model.merges)
      if (merge.partner === partner && merge.from === id && merge.acknowledgedAt <= by)
        found.add(merge.to);
  return found;
}

/** The tracker dates by whole seconds. */
export function wholeSeconds(ms: number): number {
  return Math.floor(ms / SECOND) * SECOND;
}

export function isApproved({ labels }: Pick<IssueRecord, 'labels'>): boolean {
  return labels.some(({ name }) => name === 'approved');
}
