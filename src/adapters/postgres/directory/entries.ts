import type { DirectoryEntry } from '#leads/directory/lead-directory.ts';
import { catchUpClaims, describeClaims, hasUndescribedClaims } from '../claims/describe.ts';
import { numbersOf } from '../claims/claim-leads.ts';
import type { Session } from '../connection/database.ts';
import * as sql from './statements.ts';

/**
 * Writes a page of entries in a few statements, whatever its length. What the directory learns of a
 * lead that is claimed already completes the claim.
 */
export function createEntryWriter(now: () => number) {
  return async (
    session: Session,
    id: number,
    entries: readonly DirectoryEntry[],
  ): Promise<void> => {
    const hasUndescribed = await hasUndescribedClaims(session);
    for (const page of distinct(entries)) {
      const put = new Set(await putLeads(session, id, page));
      await putKeys(session, id, page);
      for (const { number, isApproved, labels, updatedAt } of page) {
        const lead = { repositoryId: id, number, isApproved, labels };
        if (!put.has(number)) await catchUpClaims(session, { ...lead, updatedAt }, now());
        else if (hasUndescribed) await describeClaims(session, lead, now());
      }
    }
  };
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

/** Answers the numbers whose rows were written: the others are claimed, or what is stored is newer. */
async function putLeads(
  session: Session,
  id: number,
  entries: readonly DirectoryEntry[],
): Promise<number[]> {
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
  return [...put];
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
