import { createClaimWriter } from '#adapters/sqlite/claims/claim-leads.ts';
import type { Database } from '#adapters/sqlite/connection/database.ts';
import { createLeadDirectory } from '#adapters/sqlite/directory/lead-directory.ts';
import { createDirectoryView } from '#adapters/sqlite/directory/view.ts';
import type { LeadIdentity } from '#leads/model/identity.ts';
import { rulesCheckOf, toHashedIdentity } from '#leads/directory/lead-directory.ts';
import type { DirectoryEntry, LeadDirectory } from '#leads/directory/lead-directory.ts';
import type { LeadRules } from '#leads/model/lead.ts';

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

/** Claims leads as the worker does, for tests that are not about the worker. */
export function claimLeads(
  database: Database,
  order: { numbers: readonly number[]; event?: number; at?: number; repositoryId?: number },
): void {
  const { numbers, event = 1, at = 0, repositoryId = REPOSITORY_ID } = order;
  database.transaction(() =>
    createClaimWriter(database).claim(
      { repositoryId, receiptId: `receipt-${event}`, event, numbers },
      at,
    ),
  );
}

/** Numbers of the leads with this identity, as a match finds them. */
export function findLeads(database: Database, hash: Buffer): readonly number[] {
  return createDirectoryView(database, REPOSITORY).find(hash);
}
