import type { KeyObject } from 'node:crypto';
import { hmacSha256 } from '#shared/crypto/hash.ts';
import { foldLabels } from '#shared/text/labels.ts';
import type { Issue } from '../lead-tracker.ts';
import { provesPerson } from '../model/email-address.ts';
import {
  correlationIdIn,
  emailsIn,
  externalIdIn,
  type LeadIdentity,
  READING_VERSION,
} from '../model/identity.ts';
import { leadDigestOf } from '../model/lead-out.ts';
import {
  isReadable as isReadableBy,
  type LeadRules,
  readIssueBody,
  tellsFields,
  toLead,
} from '../model/lead.ts';

const HASH_BYTES = 16;
/**
 * Kind of identity that a hash stands for; an external id belongs to its partner. A `weak-email` never proves
 * that a lead is another person's.
 */
export type IdentityKind = 'email' | 'weak-email' | 'correlation-id' | `external-id/${string}`;

/** An identity as the directory stores it. */
export type HashedIdentity = { kind: IdentityKind; hash: Buffer };

/** An issue as the directory stores it. Nothing here can be turned back into personal data. */
export type DirectoryEntry = {
  number: number;
  /** Milliseconds since the Unix epoch; 0 when it is not known. */
  createdAt: number;
  /** Milliseconds since the Unix epoch. */
  updatedAt: number;
  /** By somebody whose grant has no labels, claims aside. */
  isReadable: boolean;
  /** Folded. */
  labels: readonly string[];
  /** Those of all states that it was readable in, where the entry stands for several. */
  carried?: readonly string[];
  /** Digest (`leadDigestOf`) of the lead as readers see it. */
  leadDigest?: Buffer;
  identities: readonly HashedIdentity[];
};

/** Labels by which the issue could be read, in any state that the entry stands for. */
export function carriedOf({ isReadable, labels, carried }: DirectoryEntry): readonly string[] {
  return carried ?? (isReadable ? labels : []);
}

/** A label has another name now, on every issue, none of which tells. Folded names. */
export type LabelRename = {
  from: string;
  to: string;
  approvedLabel: string;
  deletedLabel: string;
};

/** State of the crawl that fills the directory. Instants are milliseconds since the Unix epoch. */
export type DirectoryState = {
  /** Number of the crawl that runs, or of the last one. */
  crawl: number;
  isCrawling: boolean;
  startedAt: number;
  /** Issues that the crawl has seen so far. */
  issues: number;
  /** Greatest `updatedAt` that the crawl has stored: it resumes there. */
  reached: number;
  /** End of the last complete crawl; absent: there was none yet, so a missing row means nothing. */
  completedAt?: number;
  /** Greatest `updatedAt` that a crawl or a catch-up has stored. */
  caughtUpTo: number;
};

/**
 * HMAC-SHA256 of an identity, cut to 16 bytes. Kind and partner are part of what is hashed, so
 * that one partner's id can never stand for another's.
 */
export function hashIdentity(key: KeyObject, identity: LeadIdentity): Buffer {
  const partnerId = identity.kind === 'external-id' ? identity.partnerId : '';
  const text = JSON.stringify([identity.kind, partnerId, identity.value]);
  return hmacSha256(key, text).subarray(0, HASH_BYTES);
}

function kindOfIdentity(identity: LeadIdentity): IdentityKind {
  if (identity.kind === 'external-id') return `external-id/${identity.partnerId}`;
  const isWeak = identity.kind === 'email' && !provesPerson(identity.value);
  return isWeak ? 'weak-email' : identity.kind;
}

export function toHashedIdentity(key: KeyObject, identity: LeadIdentity): HashedIdentity {
  return { kind: kindOfIdentity(identity), hash: hashIdentity(key, identity) };
}

/** The entry of an issue that is no pull request. */
export function toDirectoryEntry(issue: Issue, rules: LeadRules, key: KeyObject): DirectoryEntry {
  const { contact, correlationId, externalIds } = readIssueBody(issue, rules);
  const identities = [
    ...Object.entries(externalIds).map(([partnerId, value]) => externalIdIn(partnerId, value)),
    correlationId === undefined ? undefined : correlationIdIn(correlationId),
    ...emailsIn(contact.email ?? ''),
  ];
  const isReadable = isReadableBy(issue, rules);
  return {
    number: issue.number,
    createdAt: issue.createdAt,
    updatedAt: issue.updatedAt,
    isReadable,
    labels: foldLabels(issue.labels),
    ...(isReadable &&
      tellsFields(issue, rules) && { leadDigest: leadDigestOf(key, toLead(issue, rules)) }),
    identities: identities.flatMap((identity) =>
      identity ? [toHashedIdentity(key, identity)] : [],
    ),
  };
}

/**
 * A digest of the rules by which leads are found and approved: when it changes, nothing that is missing means anything
 * until the directory is filled again. What else rules change, who sees a lead and how it looks, comes with the crawl that
 * a start begins with, and a reload of the label of deletions.
 */
export function rulesCheckOf(rules: LeadRules, key: KeyObject): Buffer {
  const { approvedLabel, portalAuthors } = rules;
  const form = rules.form.map(({ name, heading, multiline }) => ({ name, heading, multiline }));
  const text = JSON.stringify([READING_VERSION, approvedLabel, form, portalAuthors]);
  return hmacSha256(key, text).subarray(0, HASH_BYTES);
}
