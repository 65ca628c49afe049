import type { DirectoryState, LeadDirectory } from '#leads/directory/lead-directory.ts';
import type { Database } from '../connection/database.ts';
import { guard } from '../connection/errors.ts';
import { prepareDirectoryReads } from './statements.ts';
import type { DirectoryReads } from './statements.ts';
import { directoryWrites } from './write-family.ts';

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
  const { repository, now = Date.now } = options;
  const name = repository.toLowerCase();
  const sql = guard(() => prepareDirectoryReads(database.handle));
  const write = database.writer.open(directoryWrites, { name });
  const repositoryId = (): number | undefined => sql.repositoryId.get(name);
  return {
    repositoryId: async () => guard(repositoryId),
    open: (id, rulesCheck, at) => write('open', id, rulesCheck, at),
    state: async () => guard(() => toState(sql.state.get(name))),
    has: async (number) => guard(() => sql.has.get(number, name) !== undefined),
    updatedAt: async (number) => guard(() => sql.updatedAt.get(number, name)),
    put: (entries) => write('put', { entries, now: now() }),
    putCaughtUp: (entries, reached) => write('putCaughtUp', { entries, now: now() }, reached),
    renameLabel: (rename) => write('renameLabel', rename, now()),
    startCrawl: (at) => write('startCrawl', at),
    putCrawled: (entries, reached) => write('putCrawled', { entries, now: now() }, reached),
    unseen: async (after) =>
      guard(() => {
        const id = repositoryId();
        return id === undefined ? { numbers: [] } : readUnseen(sql, id, after);
      }),
    remove: (number) => write('remove', number),
    noteMoved: (number) => write('noteMoved', number),
    completeCrawl: (at) => write('completeCrawl', at),
  };
}

/** One chunk: a million rows must not hold up readers. */
function readUnseen(
  sql: DirectoryReads,
  id: number,
  after: number,
): { numbers: number[]; next?: number } {
  const last = sql.chunkEnd.get({ id, after, size: CHUNK_ROWS });
  if (last === undefined) return { numbers: [] };
  return { numbers: sql.unseen.all({ id, after, last }), next: last };
}

type StateRow = ReturnType<DirectoryReads['state']['get']>;

function toState(row: StateRow): DirectoryState | undefined {
  if (!row) return undefined;
  const { crawling, completedAt, ...rest } = row;
  return {
    ...rest,
    isCrawling: crawling === 1,
    ...(completedAt !== null && { completedAt }),
  };
}
