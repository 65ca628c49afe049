import type {
  DirectoryEntry,
  DirectoryState,
  LeadDirectory,
} from '#leads/directory/lead-directory.ts';
import { type ClaimWriter, createClaimWriter, type DescribedLead } from '../claims/write.ts';
import type { Database } from '../database.ts';
import { guard } from '../errors.ts';
import { prepareDirectory, type DirectoryStatements } from './statements.ts';

/** Rows of a finished crawl that are looked at at once. */
const CHUNK_ROWS = 5000;

export type LeadDirectoryOptions = {
  /** `owner/name`, in any case. */
  repository: string;
  /** Milliseconds since the Unix epoch; default the system's clock. */
  now?: () => number;
};

/** The lead directory in SQLite. */
export function createLeadDirectory(
  database: Database,
  options: LeadDirectoryOptions,
): LeadDirectory {
  const name = options.repository.toLowerCase();
  const sql = guard(() => prepareDirectory(database.handle));
  const claims = createClaimWriter(database);
  const putAll = createEntryWriter(sql, claims, options);
  const repositoryId = (): number | undefined => sql.repositoryId.get(name);
  const write = (work: (repositoryId: number) => void): void => {
    database.transaction(() => {
      const id = repositoryId();
      if (id !== undefined) work(id);
    });
  };
  return {
    repositoryId: async () => guard(repositoryId),
    open: async (id, checks, at) =>
      database.transaction(() => {
        sql.identify.run({ name, id, at });
        claims.adopt(id, at);
        const stored = sql.checks.get(id);
        if (stored?.key.equals(checks.key) && stored.rules.equals(checks.rules)) return;
        if (stored && !stored.key.equals(checks.key)) dropRows(sql, id);
        sql.begin.run({ id, at, key: checks.key, rules: checks.rules });
      }),
    checks: async () =>
      guard(() => {
        const id = repositoryId();
        return id === undefined ? undefined : sql.checks.get(id);
      }),
    state: async () => guard(() => toState(sql.state.get(name))),
    find: async (hash) => guard(() => sql.find.all(hash, name)),
    has: async (number) => guard(() => sql.has.get(number, name) !== undefined),
    updatedAt: async (number) => guard(() => sql.updatedAt.get(number, name)),
    put: async (entries) => write((id) => putAll(id, entries)),
    putCaughtUp: async (entries, reached) =>
      write((id) => {
        putAll(id, entries);
        sql.caughtUp.run({ id, reached });
      }),
    startCrawl: async (at) => write((id) => sql.startCrawl.run({ id, at })),
    putCrawled: async (entries, reached) =>
      write((id) => {
        putAll(id, entries);
        sql.crawled.run({ id, seen: entries.length, reached });
      }),
    unseen: async (after) =>
      guard(() => {
        const id = repositoryId();
        return id === undefined ? { numbers: [] } : readUnseen(sql, id, after);
      }),
    remove: async (number) => write((id) => remove(sql, { id, number })),
    noteMoved: async (number) => write((id) => void sql.noteMoved.run({ id, number })),
    completeCrawl: async (at) => write((id) => void sql.completeCrawl.run({ id, at })),
  };
}

/** What the directory learns of a lead that was claimed by its number completes the claim. */
function createEntryWriter(
  sql: DirectoryStatements,
  claims: ClaimWriter,
  { now = Date.now }: LeadDirectoryOptions,
): (id: number, entries: readonly DirectoryEntry[]) => void {
  return (id, entries) => {
    const hasUndescribed = claims.hasUndescribed();
    for (const entry of entries)
      if (putEntry(sql, id, entry) && hasUndescribed)
        claims.describe(toDescription(id, entry), now());
  };
}

/** False when its row stays as it is: the lead is claimed, or what is stored is newer. */
function putEntry(sql: DirectoryStatements, id: number, entry: DirectoryEntry): boolean {
  const row = { id, number: entry.number };
  const { changes } = sql.putLead.run({
    ...row,
    createdAt: entry.createdAt,
    updatedAt: entry.updatedAt,
    approved: entry.approved ? 1 : 0,
    labels: JSON.stringify(entry.labels),
  });
  if (changes === 0) sql.markSeen.run({ ...row, updatedAt: entry.updatedAt });
  for (const identity of entry.identities) sql.putKey.run({ ...row, ...identity });
  return changes > 0;
}

function toDescription(repositoryId: number, entry: DirectoryEntry): DescribedLead {
  const { number, approved, labels } = entry;
  return { repositoryId, number, approved, labels: JSON.stringify(labels) };
}

function dropRows(sql: DirectoryStatements, id: number): void {
  sql.dropAllKeys.run(id);
  sql.dropAllLeads.run(id);
}

/** One chunk: a million rows must not hold up readers. */
function readUnseen(
  sql: DirectoryStatements,
  id: number,
  after: number,
): { numbers: number[]; next?: number } {
  const last = sql.chunkEnd.get({ id, after, size: CHUNK_ROWS });
  if (last === undefined) return { numbers: [] };
  return { numbers: sql.unseen.all({ id, after, last }), next: last };
}

/** A lead that was claimed a moment ago keeps its row. */
function remove(sql: DirectoryStatements, row: { id: number; number: number }): void {
  if (sql.dropLead.run(row).changes > 0) sql.dropKeys.run(row);
}

type StateRow = ReturnType<DirectoryStatements['state']['get']>;

function toState(row: StateRow): DirectoryState | undefined {
  if (!row) return undefined;
  const { crawling, completedAt, ...rest } = row;
  return {
    ...rest,
    crawling: crawling === 1,
    ...(completedAt !== null && { completedAt }),
  };
}
