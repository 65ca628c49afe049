import { describe, expect, test } from 'vitest';
import { hashIdentity, toDirectoryEntry } from '#leads/directory/lead-directory.ts';
import { createReadLeads } from '#leads/directory/read-leads.ts';
import type { Issue } from '#leads/lead-tracker.ts';
import { readChangesAfter } from '#leads/lead-feed/stored-changes.ts';
import { DAY } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { silentLog } from '#shared/log.ts';
import { leadIssue } from '../../support/deletions/tracker.ts';
import {
  directoryKey,
  findLeads,
  leadRules,
  openedDirectory,
  plainIssue,
} from '../../support/directory.ts';
import { email } from '../../support/identities.ts';
import { temporaryDatabase, withCommits } from '../../support/stores.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

const issueOf = (address: string, facts: Partial<Issue> = {}): Issue =>
  plainIssue({
    number: 1,
    ...leadIssue({ email: address }),
    createdAt: NOW,
    updatedAt: NOW,
    ...facts,
  });

async function openRead() {
  const database = temporaryDatabase();
  const world = { isFailing: false, commits: 0, lines: [] as string[] };
  const db = withCommits(database, async (commit) => {
    if (world.isFailing) throw new TrackportError('store-unavailable');
    world.commits += 1;
    return commit();
  });
  const store = { ...(await openedDirectory(database)), db, clock: { now: () => NOW } };
  const readLeads = createReadLeads({
    store,
    toEntries: async (issues) =>
      issues.map((issue) => toDirectoryEntry(issue, leadRules, directoryKey)),
    log: { ...silentLog, warn: (_fields, text) => void world.lines.push(text) },
  });
  const read = async (...issues: Issue[]): Promise<void> => {
    readLeads.take(issues);
    await readLeads.settled();
  };
  const find = (address: string): Promise<readonly number[]> =>
    findLeads(database, hashIdentity(directoryKey, email(address)));
  return { world, store, readLeads, read, find };
}

describe('what readers are shown', () => {
  test('is in the directory, once for each state', async () => {
    const { world, read, find } = await openRead();
    await read(issueOf('ada@example.com'), issueOf('bo@example.com', { number: 2 }));
    expect([await find('ada@example.com'), await find('bo@example.com')]).toEqual([[1], [2]]);
    const { commits } = world;
    await read(issueOf('ada@example.com'), issueOf('bo@example.com', { number: 2 }));
    expect(world.commits).toBe(commits);
    await read(issueOf('eve@example.com', { updatedAt: NOW + 1000 }));
    expect(await find('eve@example.com')).toEqual([1]);
  });

  test('of a replica that is behind changes nothing', async () => {
    const { store, read } = await openRead();
    await read(issueOf('ada@example.com'));
    await read(issueOf('ada@example.com', { updatedAt: NOW - 1000, labels: [] }));
    expect(await readChangesAfter(store, [0, 0], 5)).toMatchObject([
      { number: 1, isVisible: true },
    ]);
  });

  test('is no change that was just made where it is met for the first time and old', async () => {
    const { store, read } = await openRead();
    const createdAt = NOW - 9 * DAY;
    await read(issueOf('ada@example.com', { createdAt, updatedAt: createdAt }));
    expect(await readChangesAfter(store, [0, 0], 5)).toMatchObject([{ position: createdAt }]);
  });

  test('is left to the next catch-up where the store fails, or it is too much', async () => {
    const { world, readLeads, read, find } = await openRead();
    world.isFailing = true;
    await read(issueOf('ada@example.com'));
    expect(world.lines).toEqual(['leads that were read could not be kept']);
    world.isFailing = false;
    for (let number = 1; number <= 20; number += 1)
      readLeads.take([issueOf(`ada${number}@example.com`, { number })]);
    await readLeads.settled();
    expect(await find('ada16@example.com')).toEqual([16]);
    expect(await find('ada17@example.com')).toEqual([]);
  });
});
