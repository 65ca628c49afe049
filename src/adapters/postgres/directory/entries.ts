import { carriedOf } from '#leads/directory/carried-labels.ts';
import type { DirectoryEntry } from '#leads/directory/lead-directory.ts';
import { redateClaims } from '../claims/claim-dates.ts';
import { numbersOf } from '../claims/claim-leads.ts';
import type { Session } from '../connection/database.ts';
import * as sql from './statements.ts';

/** Writes a page of entries in a few statements, whatever its length. */
export function createEntryWriter(now: () => number) {
  return async (
    session: Session,
    id: number,
    entries: readonly DirectoryEntry[],
  ): Promise<void> => {
    for (const page of distinct(entries)) {
      await putLeads(session, id, page);
      await putKeys(session, id, page);
      const approvals = page.map((entry) => ({ number: entry.number, labels: carriedOf(entry) }));
      await carry(session, { id, at: now() }, approvals);
    }
  };
}

/**
 * Adds labels by which leads could be read. Whoever may read by what is new here learns of a removal
 * that is there already.
 */
export async function carry(
  session: Session,
  { id, at }: { id: number; at: number },
  approvals: readonly { number: number; labels: readonly string[] }[],
): Promise<void> {
  const carried = approvals.filter(({ labels }) => labels.length > 0);
  if (carried.length === 0) return;
  await redateClaims(session, sql.CARRY, {
    id,
    at,
    numbers: carried.map(({ number }) => number),
    labels: carried.map(({ labels }) => JSON.stringify(labels)),
  });
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
  const rows = await session.all<{ number: number }>(sql.PUT_LEADS, {
    id,
    numbers: entries.map(({ number }) => number),
    createdAts: entries.map(({ createdAt }) => createdAt),
    updatedAts: entries.map(({ updatedAt }) => updatedAt),
    approvals: entries.map(({ isApproved }) => isApproved),
    labels: entries.map(({ labels }) => JSON.stringify(labels)),
  });
  const put = new Set(numbersOf(rows));
  const left = entries.filter(({ number }) => !put.has(number));
  if (left.length > 0)
    await session.run(sql.MARK_SEEN, {
      id,
      numbers: left.map(({ number }) => number),
      updatedAts: left.map(({ updatedAt }) => updatedAt),
    });
}

async function putKeys(
  session: Session,
  id: number,
  entries: readonly DirectoryEntry[],
): Promise<void> {
  const keys = entries.flatMap(({ number, identities }) =>
    identities.map((identity) => ({ ...identity, number })),
  );
  if (keys.length === 0) return;
  await session.run(sql.PUT_KEYS, {
    id,
    hashes: keys.map(({ hash }) => hash),
    numbers: keys.map(({ number }) => number),
    kinds: keys.map(({ kind }) => kind),
  });
}
