import { carriedOf } from '#leads/model/labels.ts';
import type { DirectoryEntry, LabelRename } from '#leads/directory/lead-directory.ts';
import type { ReadLead } from '#leads/lead-feed/feed-store.ts';
import { ADOPT, numbersOf, redateClaims, REDATE } from '../claim/claim-leads.ts';
import { hideLeads, noteLeads, noteReadLeads, settleLeads } from '../lead-feed/writes.ts';
import { type Session, toRecords } from '../session.ts';
import { readRepositoryId } from './repository.ts';
import * as sql from './statements.ts';

/** Entries, and when they are written: milliseconds since the Unix epoch. */
type Page = { entries: readonly DirectoryEntry[]; now: number };

type Opening = { name: string; id: number; at: number; rules: Buffer };

/** `name` is the repository's `owner/name` in lower case. One that is not known is passed over. */
export const directoryWrites = {
  open: async (session: Session, opening: Opening): Promise<void> => {
    const { id, at, rules } = opening;
    await session.run(sql.IDENTIFY, opening);
    await redateClaims(session, ADOPT, { id, at });
    const stored = await session.get<{ rulesCheck: Buffer }>(sql.RULES_CHECK, { id });
    if (stored?.rulesCheck.equals(rules) !== true) await session.run(sql.BEGIN, opening);
  },
  put: (session: Session, name: string, page: Page) =>
    inRepository(session, name, (id) => putPage(session, id, page)),
  putCaughtUp: (session: Session, name: string, page: Page, reached: number) =>
    inRepository(session, name, async (id) => {
      await putPage(session, id, page);
      await session.run(sql.CAUGHT_UP, { id, reached });
    }),
  putCrawled: (session: Session, name: string, page: Page, reached: number) =>
    inRepository(session, name, async (id) => {
      await putPage(session, id, { ...page, isCrawl: true });
      await session.run(sql.CRAWLED, { id, seen: page.entries.length, reached });
    }),
  renameLabel: (session: Session, name: string, rename: LabelRename, now: number) =>
    inRepository(session, name, async (id) => {
      type Row = { number: number; labels: string; isApproved: boolean };
      const values = { ...rename, id, former: JSON.stringify([rename.from]) };
      const rows = await session.all<Row>(sql.RENAME_LABEL, values);
      const approved = rows.filter(({ isApproved }) => isApproved);
      const approvals = approved.map(({ number, labels }) => ({
        number,
        labels: JSON.parse(labels) as string[],
      }));
      await carry(session, { id, at: now }, approvals);
      await noteLeads(session, { id, numbers: numbersOf(rows), at: now });
    }),
  noteRead: (session: Session, name: string, leads: readonly ReadLead[], at: number) =>
    inRepository(session, name, async (id) => {
      await carry(session, { id, at }, leads);
      await noteReadLeads(session, { id, at, leads });
    }),
  startCrawl: (session: Session, name: string, at: number) =>
    inRepository(session, name, (id) => session.run(sql.START_CRAWL, { id, at })),
  completeCrawl: (session: Session, name: string, at: number) =>
    inRepository(session, name, async (id) => {
      await settleLeads(session, { id, at });
      await session.run(sql.COMPLETE_CRAWL, { id, at });
    }),
  /** A lead that was claimed a moment ago keeps its row. */
  remove: (session: Session, name: string, number: number, at: number) =>
    inRepository(session, name, async (id) => {
      if ((await session.run(sql.DROP_LEAD, { id, number })) > 0)
        await session.run(sql.DROP_KEYS, { id, number });
      await hideLeads(session, { id, numbers: [number], at });
    }),
  noteMoved: (session: Session, name: string, number: number, at: number) =>
    inRepository(session, name, async (id) => {
      await session.run(sql.NOTE_MOVED, { id, number });
      await hideLeads(session, { id, numbers: [number], at });
    }),
};

async function inRepository(
  session: Session,
  name: string,
  work: (id: number) => Promise<unknown>,
): Promise<void> {
  const id = await readRepositoryId(session, name);
  if (id !== undefined) await work(id);
}

/** Writes a page of entries in a few statements, whatever its length. */
async function putPage(
  session: Session,
  id: number,
  { entries, now, isCrawl }: Page & { isCrawl?: boolean },
): Promise<void> {
  for (const part of distinct(entries)) {
    await putLeads(session, id, part);
    await putKeys(session, id, part);
    const approvals = part.map((entry) => ({ number: entry.number, labels: carriedOf(entry) }));
    await carry(session, { id, at: now }, approvals);
  }
  const numbers = [...new Set(numbersOf(entries))];
  await noteLeads(session, { id, numbers, at: now }, { isCrawl });
}

/**
 * Adds labels by which leads could be read. Whoever may read by what is new here learns of a removal
 * that is there already.
 */
async function carry(
  session: Session,
  { id, at }: { id: number; at: number },
  approvals: readonly { number: number; labels: readonly string[] }[],
): Promise<void> {
  const carried = approvals.filter(({ labels }) => labels.length > 0);
  if (carried.length === 0) return;
  const approved = carried.map(({ number, labels }) => ({ number, labels }));
  const values = { id, approvals: toRecords(approved) };
  const numbers = numbersOf(await session.all(sql.CARRY, values));
  if (numbers.length > 0) await redateClaims(session, REDATE, { id, at, numbers });
}

/** One statement can change a row once: an issue that comes twice is in two parts, in their order. */
function distinct(entries: readonly DirectoryEntry[]): DirectoryEntry[][] {
  const parts: { entries: DirectoryEntry[]; numbers: Set<number> }[] = [];
  for (const entry of entries) {
    const last = parts.at(-1);
    if (last && !last.numbers.has(entry.number)) {
      last.entries.push(entry);
      last.numbers.add(entry.number);
    } else parts.push({ entries: [entry], numbers: new Set([entry.number]) });
  }
  return parts.map((part) => part.entries);
}

async function putLeads(
  session: Session,
  id: number,
  entries: readonly DirectoryEntry[],
): Promise<void> {
  const values = { id, entries: toRecords(entries.map(withoutIdentities)) };
  const put = new Set(numbersOf(await session.all(sql.PUT_LEADS, values)));
  const left = entries.filter(({ number }) => !put.has(number));
  await Promise.all(
    left.map(({ number, updatedAt }) => session.run(sql.MARK_SEEN, { id, number, updatedAt })),
  );
}

function withoutIdentities({ identities: _identities, ...entry }: DirectoryEntry): object {
  return entry;
}

async function putKeys(
  session: Session,
  id: number,
  entries: readonly DirectoryEntry[],
): Promise<void> {
  const keys = entries.flatMap(({ number, identities }) =>
    identities.map((identity) => ({ ...identity, number })),
  );
  if (keys.length > 0) await session.run(sql.PUT_KEYS, { id, keys: toRecords(keys) });
}
