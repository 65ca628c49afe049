import type { DirectoryEntry, DirectoryState, LeadDirectory } from './lead-directory.ts';
import type { ClaimLearnt } from '../claims/deletion-names.ts';
import { numbersOf } from '../claims/claim-leads.ts';
import type { Tx, Database } from '#shared/database.ts';
import { NAMED, readRepositoryId } from './directory-view.ts';
import { directoryWrites, IS_FROZEN } from './write-directory.ts';

const LEAD = `
  SELECT updated_at FROM directory_lead WHERE number = @number AND repository_id = ${NAMED}`;

const STATE = `
  SELECT crawl, crawling AS is_crawling, crawl_started_at AS started_at, crawl_issues AS issues,
    crawl_reached AS reached, completed_at, caught_up_to
  FROM directory_state WHERE repository_id = ${NAMED}`;

const CHUNK_END = `
  SELECT max(number) AS last FROM (SELECT number FROM directory_lead
    WHERE repository_id = @id AND number > @after ORDER BY number LIMIT @size) AS chunk
  HAVING max(number) IS NOT NULL`;

const UNSEEN = `
  SELECT number FROM directory_lead
  WHERE repository_id = @id AND number > @after AND number <= @last AND NOT is_moved
    AND crawl < (SELECT crawl FROM directory_state WHERE repository_id = @id)
    AND NOT ${IS_FROZEN}
  ORDER BY number`;

/** Rows of a finished crawl that are looked at at once. */
const CHUNK_ROWS = 5000;

export type LeadDirectoryOptions = {
  /** `owner/name`, in any case. */
  repository: string;
  /** Milliseconds since the Unix epoch; default the system's clock. */
  now?: () => number;
  /** Claims what deletions that stand name among what the directory learns. */
  claimLearnt: ClaimLearnt;
};

/** The lead directory, whatever the engine. */
export function createLeadDirectory(
  database: Database,
  { repository, now = Date.now, claimLearnt }: LeadDirectoryOptions,
): LeadDirectory {
  const name = repository.toLowerCase();
  const page = (entries: readonly DirectoryEntry[]) => ({ entries, now: now(), claimLearnt });
  const lead = (number: number) => database.get<{ updatedAt: number }>(LEAD, { name, number });
  return {
    repositoryId: () => readRepositoryId(database, name),
    open: (id, rules, at) =>
      database.exclusive((tx) => directoryWrites.open(tx, { name, id, at, rules })),
    state: () => database.get<DirectoryState>(STATE, { name }),
    has: async (number) => (await lead(number)) !== undefined,
    updatedAt: async (number) => (await lead(number))?.updatedAt,
    put: (entries) => database.exclusive((tx) => directoryWrites.put(tx, name, page(entries))),
    putCaughtUp: (entries, reached) =>
      database.exclusive((tx) => directoryWrites.putCaughtUp(tx, name, page(entries), reached)),
    renameLabel: (rename) =>
      database.exclusive((tx) => directoryWrites.renameLabel(tx, name, rename, now())),
    startCrawl: (at) => database.exclusive((tx) => directoryWrites.startCrawl(tx, name, at)),
    putCrawled: (entries, reached) =>
      database.exclusive((tx) => directoryWrites.putCrawled(tx, name, page(entries), reached)),
    unseen: async (after) => {
      const id = await readRepositoryId(database, name);
      return id === undefined ? { numbers: [] } : readUnseen(database, id, after);
    },
    remove: (number) => database.exclusive((tx) => directoryWrites.remove(tx, name, number, now())),
    noteMoved: (number) =>
      database.exclusive((tx) => directoryWrites.noteMoved(tx, name, number, now())),
    completeCrawl: (at) => database.exclusive((tx) => directoryWrites.completeCrawl(tx, name, at)),
  };
}

/** One chunk: a million rows must not be held at once, nor hold up readers. */
async function readUnseen(
  session: Tx,
  id: number,
  after: number,
): Promise<{ numbers: number[]; next?: number }> {
  const values = { id, after, size: CHUNK_ROWS };
  const chunk = await session.get<{ last: number }>(CHUNK_END, values);
  if (!chunk) return { numbers: [] };
  const { last } = chunk;
  return { numbers: numbersOf(await session.all(UNSEEN, { id, after, last })), next: last };
}
