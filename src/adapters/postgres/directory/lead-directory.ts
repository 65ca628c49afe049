import type { DirectoryState, LeadDirectory } from '#leads/directory/lead-directory.ts';
import type { RowOf } from '#shared/store/row.ts';
import { ADOPT, redateClaims } from '../claims/claim-dates.ts';
import { numbersOf } from '../claims/claim-leads.ts';
import type { Database, Session } from '../connection/database.ts';
import { claimTransaction } from '../locks.ts';
import { carry, createEntryWriter } from './entries.ts';
import * as sql from './statements.ts';

/** Rows of a finished crawl that are looked at at once. */
const CHUNK_ROWS = 5000;

export type LeadDirectoryOptions = {
  /** `owner/name`, in any case. */
  repository: string;
  /** Milliseconds since the Unix epoch; default the system's clock. */
  now?: () => number;
};

type IdRow = { repositoryId: number };
type LeadRow = { updatedAt: number };

/** The lead directory in PostgreSQL. */
export function createLeadDirectory(
  database: Database,
  { repository, now = Date.now }: LeadDirectoryOptions,
): LeadDirectory {
  const name = repository.toLowerCase();
  const readId = async (session: Session): Promise<number | undefined> =>
    (await session.get<IdRow>(sql.REPOSITORY_ID, { name }))?.repositoryId;
  const write = (work: (session: Session, id: number) => Promise<unknown>): Promise<void> =>
    claimTransaction(database, async (session) => {
      const id = await readId(session);
      if (id !== undefined) await work(session, id);
    });
  const put = createEntryWriter(now);
  const lead = (number: number) => database.get<LeadRow>(sql.LEAD, { name, number });
  return {
    repositoryId: () => readId(database),
    open: (id, rules, at) =>
      claimTransaction(database, (session) => open(session, { name, id, at, rules })),
    state: async () => toState(await database.get(sql.STATE, { name })),
    has: async (number) => (await lead(number)) !== undefined,
    updatedAt: async (number) => (await lead(number))?.updatedAt,
    put: (entries) => write((session, id) => put(session, id, entries)),
    putCaughtUp: (entries, reached) =>
      write(async (session, id) => {
        await put(session, id, entries);
        await session.run(sql.CAUGHT_UP, { id, reached });
      }),
    renameLabel: (rename) =>
      write(async (session, id) => {
        type Row = { number: number; labels: string[]; approved: boolean };
        const rows = await session.all<Row>(sql.RENAME_LABEL, { id, ...rename });
        await carry(
          session,
          { id, at: now() },
          rows.filter(({ approved }) => approved),
        );
      }),
    startCrawl: (at) => write((session, id) => session.run(sql.START_CRAWL, { id, at })),
    putCrawled: (entries, reached) =>
      write(async (session, id) => {
        await put(session, id, entries);
        await session.run(sql.CRAWLED, { id, seen: entries.length, reached });
      }),
    unseen: async (after) => {
      const id = await readId(database);
      return id === undefined ? { numbers: [] } : readUnseen(database, id, after);
    },
    remove: (number) => write((session, id) => remove(session, { id, number })),
    noteMoved: (number) => write((session, id) => session.run(sql.NOTE_MOVED, { id, number })),
    completeCrawl: (at) => write((session, id) => session.run(sql.COMPLETE_CRAWL, { id, at })),
  };
}

type Opening = { name: string; id: number; at: number; rules: Buffer };

async function open(session: Session, opening: Opening): Promise<void> {
  const { id, at, rules } = opening;
  await session.run(sql.IDENTIFY, opening);
  await redateClaims(session, ADOPT, { repositoryId: id, at });
  const stored = await session.get<{ rulesCheck: Buffer }>(sql.RULES_CHECK, { id });
  if (stored?.rulesCheck.equals(rules) !== true) await session.run(sql.BEGIN, opening);
}

/** One chunk: a million rows must not be held at once. */
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

/** A lead that was claimed a moment ago keeps its row. */
async function remove(session: Session, row: { id: number; number: number }): Promise<void> {
  if ((await session.run(sql.DROP_LEAD, row)) > 0) await session.run(sql.DROP_KEYS, row);
}

function toState(row: RowOf<DirectoryState> | undefined): DirectoryState | undefined {
  if (!row) return undefined;
  const { completedAt, ...rest } = row;
  return { ...rest, ...(completedAt !== null && { completedAt }) };
}
