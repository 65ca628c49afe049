import type { DirectoryState, LeadDirectory } from '#leads/directory/lead-directory.ts';
import { numbersOf } from '../claim/claim-leads.ts';
import type { Tx, Database } from '#shared/database.ts';
import { bindWrites } from '../bind-writes.ts';
import { NAMED, readRepositoryId } from './view.ts';
import { directoryWrites, IS_FROZEN } from './writes.ts';

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
};

/** The lead directory, whatever the engine. */
export function createLeadDirectory(
  database: Database,
  { repository, now = Date.now }: LeadDirectoryOptions,
): LeadDirectory {
  const name = repository.toLowerCase();
  const writes = bindWrites(database.exclusive, directoryWrites);
  const lead = (number: number) => database.get<{ updatedAt: number }>(LEAD, { name, number });
  return {
    repositoryId: () => readRepositoryId(database, name),
    open: (id, rules, at) => writes.open({ name, id, at, rules }),
    state: () => database.get<DirectoryState>(STATE, { name }),
    has: async (number) => (await lead(number)) !== undefined,
    updatedAt: async (number) => (await lead(number))?.updatedAt,
    put: (entries) => writes.put(name, { entries, now: now() }),
    putCaughtUp: (entries, reached) => writes.putCaughtUp(name, { entries, now: now() }, reached),
    renameLabel: (rename) => writes.renameLabel(name, rename, now()),
    startCrawl: (at) => writes.startCrawl(name, at),
    putCrawled: (entries, reached) => writes.putCrawled(name, { entries, now: now() }, reached),
    unseen: async (after) => {
      const id = await readRepositoryId(database, name);
      return id === undefined ? { numbers: [] } : readUnseen(database, id, after);
    },
    remove: (number) => writes.remove(name, number, now()),
    noteMoved: (number) => writes.noteMoved(name, number, now()),
    completeCrawl: (at) => writes.completeCrawl(name, at),
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
