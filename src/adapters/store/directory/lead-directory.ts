import type { DirectoryState, LeadDirectory } from '#leads/directory/lead-directory.ts';
import { numbersOf } from '../claim/claim-leads.ts';
import { bindWrites, type Session, type StoreDatabase } from '../session.ts';
import { readRepositoryId } from './repository.ts';
import * as sql from './statements.ts';
import { directoryWrites } from './writes.ts';

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
  database: StoreDatabase,
  { repository, now = Date.now }: LeadDirectoryOptions,
): LeadDirectory {
  const name = repository.toLowerCase();
  const writes = bindWrites(database.writer.callInTurn, 'directory', directoryWrites);
  const lead = (number: number) => database.get<{ updatedAt: number }>(sql.LEAD, { name, number });
  return {
    repositoryId: () => readRepositoryId(database, name),
    open: (id, rules, at) => writes.open({ name, id, at, rules }),
    state: () => database.get<DirectoryState>(sql.STATE, { name }),
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
  session: Session,
  id: number,
  after: number,
): Promise<{ numbers: number[]; next?: number }> {
  const values = { id, after, size: CHUNK_ROWS };
  const chunk = await session.get<{ last: number }>(sql.CHUNK_END, values);
  if (!chunk) return { numbers: [] };
  const { last } = chunk;
  return { numbers: numbersOf(await session.all(sql.UNSEEN, { id, after, last })), next: last };
}
