import { claimsOf, insertClaims } from '#leads/claims/claim-leads.ts';
import type { Database, Statements, Tx } from '#shared/database.ts';
import { readDirectoryView, readUpdatedAt } from '#leads/directory/directory-view.ts';
import { adoptRepository, putEntries } from '#leads/directory/write-directory.ts';
import type { DirectoryStore } from '#leads/lead-store.ts';
import type { Issue } from '#leads/lead-tracker.ts';
import type { LeadIdentity } from '#leads/model/identity.ts';
import {
  type DirectoryEntry,
  rulesCheckOf,
  toHashedIdentity,
} from '#leads/directory/lead-directory.ts';
import type { LeadRules } from '#leads/model/lead.ts';
import { claimLearnt } from '#partners/receipts/standing-deletions.ts';
import { MINUTE } from '#shared/clock.ts';
import { keyOf } from './keys.ts';

export const directoryKey = keyOf(7);

export const leadRules: LeadRules = {
  approvedLabel: 'approved',
  deletedLabel: 'deleted-by-partner',
  priorityLabelPrefix: 'priority:',
  form: [
    { name: 'firstName', heading: 'First name', multiline: false },
    { name: 'email', heading: 'Email', multiline: false },
    { name: 'message', heading: 'Message', multiline: true },
  ],
  portalAuthors: ['acme-portal[bot]'],
};

/** An issue of which nothing matters, or but for these facts. */
export const plainIssue = (facts: Partial<Issue> = {}): Issue => ({
  number: 1,
  title: '',
  body: '',
  state: 'open',
  labels: [],
  assignees: [],
  createdAt: 0,
  updatedAt: 0,
  isPullRequest: false,
  ...facts,
});

export const REPOSITORY = 'acme/leads';
export const REPOSITORY_ID = 4711;

/** Knowledge of leads in a store, as a service has it. */
export function leadStoreIn(
  db: Database,
  { repository = REPOSITORY, now = Date.now }: { repository?: string; now?: () => number } = {},
): DirectoryStore {
  return { db, repository: repository.toLowerCase(), clock: { now }, claimLearnt };
}

export async function isKnown(store: DirectoryStore, number: number): Promise<boolean> {
  return (await readUpdatedAt(store, number)) !== undefined;
}

/** A directory that knows its repository and these leads, and is in its first crawl. */
export async function openedDirectory(
  database: Database,
  known: readonly (number | DirectoryEntry)[] = [],
): Promise<DirectoryStore> {
  const store = leadStoreIn(database);
  const rules = rulesCheckOf(leadRules, directoryKey);
  await adoptRepository(store, REPOSITORY_ID, { rules, at: 0 });
  await putEntries(
    store,
    known.map((one) => (typeof one === 'number' ? entry(one) : one)),
  );
  return store;
}

export function entry(
  number: number,
  facts: Partial<Omit<DirectoryEntry, 'identities'>> & {
    identities?: readonly LeadIdentity[];
  } = {},
): DirectoryEntry {
  const { identities = [], ...rest } = facts;
  return {
    number,
    createdAt: 0,
    updatedAt: 0,
    isReadable: true,
    labels: ['approved'],
    identities: identities.map((identity) => toHashedIdentity(directoryKey, identity)),
    ...rest,
  };
}

type TestOrder = {
  numbers: readonly number[];
  event?: number;
  at?: number;
  repositoryId?: number;
};

/** Claims leads as the worker does, for tests that are not about the worker. */
export async function claimLeads(session: Tx | Database, order: TestOrder): Promise<void> {
  const { numbers, event = 1, at = 0, repositoryId = REPOSITORY_ID } = order;
  const claims = claimsOf({ receiptId: `receipt-${event}`, event, numbers }, at);
  const claim = (tx: Tx): Promise<void> => insertClaims(tx, { repositoryId, claims });
  await ('exclusive' in session ? session.exclusive(claim) : claim(session));
}

/** Numbers of the leads with this identity, as a match finds them. */
export async function findLeads(session: Statements, hash: Buffer): Promise<readonly number[]> {
  return (await readDirectoryView(session, REPOSITORY, [{ kind: 'email', hash }])).find(hash);
}

/** Wait of a filler where matching alone needs the directory. */
export const matchedOnly = {
  feedIntervalMs: MINUTE,
  hasPartners: () => true,
};
