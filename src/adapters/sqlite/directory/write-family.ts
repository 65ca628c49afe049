import { carriedOf } from '#leads/directory/carried-labels.ts';
import type { DirectoryEntry, LabelRename } from '#leads/directory/lead-directory.ts';
import { createClaimWriter } from '../claims/claim-leads.ts';
import type { ClaimWriter } from '../claims/claim-leads.ts';
import type { Connection } from '../connection/connection.ts';
import type { WriteFamily } from '../writer/writer.ts';
import { prepareDirectory } from './statements.ts';
import type { DirectoryStatements } from './statements.ts';

/** `name` is the repository's `owner/name`, folded. */
type DirectoryWriteOptions = { name: string };

type DirectoryWrites = ReturnType<typeof createDirectoryWrites>;

export const directoryWrites: WriteFamily<DirectoryWriteOptions, DirectoryWrites> = {
  name: 'directory',
  create: createDirectoryWrites,
};

/** Entries, and when they are written: milliseconds since the Unix epoch. */
type Batch = { entries: readonly DirectoryEntry[]; now: number };

function createDirectoryWrites(connection: Connection, { name }: DirectoryWriteOptions) {
  const sql = prepareDirectory(connection.handle);
  const claims = createClaimWriter(connection);
  const withRepository = (work: (repositoryId: number) => void): void => {
    const id = sql.repositoryId.get(name);
    if (id !== undefined) work(id);
  };
  return {
    open: (id: number, rules: Buffer, at: number): void => {
      sql.identify.run({ name, id, at });
      claims.adopt(id, at);
      if (sql.rulesCheck.get(id)?.equals(rules) !== true) sql.begin.run({ id, at, rules });
    },
    put: (batch: Batch) => withRepository((id) => putAll({ sql, claims }, id, batch)),
    putCaughtUp: (batch: Batch, reached: number) =>
      withRepository((id) => {
        putAll({ sql, claims }, id, batch);
        sql.caughtUp.run({ id, reached });
      }),
    renameLabel: (rename: LabelRename, now: number) =>
      withRepository((id) => {
        for (const { number, labels, approved } of sql.renameLabel.all({ id, ...rename }))
          if (approved === 1) carry({ sql, claims }, { id, number, labels }, now);
      }),
    startCrawl: (at: number) => withRepository((id) => void sql.startCrawl.run({ id, at })),
    putCrawled: (batch: Batch, reached: number) =>
      withRepository((id) => {
        putAll({ sql, claims }, id, batch);
        sql.crawled.run({ id, seen: batch.entries.length, reached });
      }),
    remove: (number: number) => withRepository((id) => remove(sql, { id, number })),
    noteMoved: (number: number) => withRepository((id) => void sql.noteMoved.run({ id, number })),
    completeCrawl: (at: number) => withRepository((id) => void sql.completeCrawl.run({ id, at })),
  };
}

type Writing = { sql: DirectoryStatements; claims: ClaimWriter };

function putAll(writing: Writing, id: number, { entries, now }: Batch): void {
  for (const entry of entries) {
    putEntry(writing.sql, id, entry);
    const labels = carriedOf(entry);
    if (labels.length > 0)
      carry(writing, { id, number: entry.number, labels: JSON.stringify(labels) }, now);
  }
}

type Approval = { id: number; number: number; labels: string };

/** Whoever may read by what is new here learns of a removal that is there already. */
function carry({ sql, claims }: Writing, approval: Approval, now: number): void {
  const { id: repositoryId, number } = approval;
  if (sql.carry.run(approval).changes > 0) claims.redate({ repositoryId, number }, now);
}

function putEntry(sql: DirectoryStatements, id: number, entry: DirectoryEntry): void {
  const row = { id, number: entry.number };
  const { changes } = sql.putLead.run({
    ...row,
    createdAt: entry.createdAt,
    updatedAt: entry.updatedAt,
    approved: entry.isApproved ? 1 : 0,
    labels: JSON.stringify(entry.labels),
  });
  if (changes === 0) sql.markSeen.run({ ...row, updatedAt: entry.updatedAt });
  for (const identity of entry.identities) sql.putKey.run({ ...row, ...identity });
}

/** A lead that was claimed a moment ago keeps its row. */
function remove(sql: DirectoryStatements, row: { id: number; number: number }): void {
  if (sql.dropLead.run(row).changes > 0) sql.dropKeys.run(row);
}
