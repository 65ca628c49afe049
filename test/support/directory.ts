import { claimsOf, insertClaims } from '#leads/claims/claim-leads.ts';
import type { Database, Statements, Tx } from '#shared/database.ts';
import {
  readDirectoryState,
  readDirectoryView,
  readRepositoryId,
  readUnseen,
  readUpdatedAt,
} from '#leads/directory/directory-view.ts';
import {
  completeCrawl,
  noteMoved,
  openDirectory,
  putCaughtUp,
  putCrawled,
  putEntries,
  removeEntry,
  renameLabel,
  startCrawl,
} from '#leads/directory/write-directory.ts';
import type { LeadStore } from '#leads/lead-store.ts';
import type { LeadIdentity } from '#leads/model/identity.ts';
import {
  type DirectoryEntry,
  rulesCheckOf,
  toHashedIdentity,
} from '#leads/directory/lead-directory.ts';
import { hideLead, noteFeedReader, noteRead } from '#leads/lead-feed/note-changes.ts';
import {
  isFeedFollowed,
  readChangesAfter,
  readFeedEnd,
  readFeedReader,
} from '#leads/lead-feed/read-changes.ts';
import type { LeadRules } from '#leads/model/lead.ts';
import { claimLearnt } from '#partners/receipts/standing-deletions.ts';
import { MINUTE } from '#shared/clock.ts';

export const directoryKey = Buffer.alloc(32, 7);

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

export const REPOSITORY = 'acme/leads';
export const REPOSITORY_ID = 4711;

/** The lead directory in a store, as a service has it. */
export type LeadDirectory = ReturnType<typeof createLeadDirectory>;

export function createLeadDirectory(
  db: Database,
  { repository, now = Date.now }: { repository: string; now?: () => number },
) {
  const store: LeadStore = {
    db,
    repository: repository.toLowerCase(),
    clock: { now },
    claimLearnt,
  };
  const updatedAt = readUpdatedAt.bind(undefined, store);
  return {
    store,
    repositoryId: () => readRepositoryId(db, store.repository),
    open: (id: number, rules: Buffer, at: number) => openDirectory(store, id, { rules, at }),
    state: readDirectoryState.bind(undefined, store),
    updatedAt,
    has: async (number: number) => (await updatedAt(number)) !== undefined,
    put: putEntries.bind(undefined, store),
    putCaughtUp: putCaughtUp.bind(undefined, store),
    renameLabel: renameLabel.bind(undefined, store),
    startCrawl: startCrawl.bind(undefined, store),
    putCrawled: putCrawled.bind(undefined, store),
    unseen: readUnseen.bind(undefined, store),
    remove: removeEntry.bind(undefined, store),
    noteMoved: noteMoved.bind(undefined, store),
    completeCrawl: completeCrawl.bind(undefined, store),
  };
}

/** A directory that knows its repository, and is in its first crawl. */
export async function openedDirectory(
  database: Database,
  repositoryId: number = REPOSITORY_ID,
): Promise<LeadDirectory> {
  const directory = createLeadDirectory(database, { repository: REPOSITORY });
  await directory.open(repositoryId, rulesCheckOf(leadRules, directoryKey), 0);
  return directory;
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
    isApproved: true,
    labels: ['approved'],
    identities: identities.map((identity) => toHashedIdentity(directoryKey, identity)),
    ...rest,
  };
}

export type TestOrder = {
  numbers: readonly number[];
  event?: number;
  at?: number;
  repositoryId?: number;
};

/** Claims leads as the worker does, for tests that are not about the worker. */
export async function claimLeads(session: Tx | Database, order: TestOrder): Promise<void> {
  const { numbers, event = 1, at = 0, repositoryId = REPOSITORY_ID } = order;
  const claims = claimsOf({ receiptId: `receipt-${event}`, event, numbers }, at);
  const claim = (tx: Tx): Promise<void> => insertClaims(tx, repositoryId, claims);
  await ('exclusive' in session ? session.exclusive(claim) : claim(session));
}

/** Numbers of the leads with this identity, as a match finds them. */
export async function findLeads(session: Statements, hash: Buffer): Promise<readonly number[]> {
  return (await readDirectoryView(session, REPOSITORY, [{ kind: 'email', hash }])).find(hash);
}

/** The lead, as matching knows it. */
export async function identitiesOf(session: Statements, number: number) {
  const view = await readDirectoryView(session, REPOSITORY, [{ kind: 'lead-id', number }]);
  return view.identitiesOf(number);
}

/** As if all identities had been read by an older version of the rules. */
export async function ageDirectory(session: Statements): Promise<void> {
  await session.run('UPDATE directory_key SET rule = rule - 1');
}

/** The lead feed in a store. */
export function createLeadFeedStore(
  db: Database,
  options: { repository: string; now?: () => number },
) {
  const { store } = createLeadDirectory(db, options);
  return {
    end: readFeedEnd.bind(undefined, store),
    changesAfter: readChangesAfter.bind(undefined, store),
    hide: hideLead.bind(undefined, store),
    noteRead: noteRead.bind(undefined, store),
    noteReader: noteFeedReader.bind(undefined, db),
    reader: readFeedReader.bind(undefined, db),
    isFollowed: isFeedFollowed.bind(undefined, db),
  };
}

/** Wait of a filler where matching alone needs the directory. */
export const matchedOnly = {
  feedIntervalMs: MINUTE,
  isMatched: () => true,
};
