import { expect, test } from 'vitest';
import { createWebhookInbox } from '#leads/directory/webhook-inbox.ts';
import {
  type DirectoryEntry,
  type LabelRename,
  toDirectoryEntry,
} from '#leads/directory/lead-directory.ts';
import type { Issue } from '#leads/lead-tracker.ts';
import { TrackportError } from '#shared/errors.ts';
import { type LogFields, silentLog } from '#shared/log.ts';
import { directoryKey, leadRules } from '../../support/directory.ts';
import { createFakeClock } from '../../support/clock.ts';
import { leadIssue } from '../../support/deletions/tracker.ts';

function setUp() {
  const clock = createFakeClock();
  const commits: DirectoryEntry[][] = [];
  const moved: { number: number; after: number }[] = [];
  const renames: (LabelRename & { after: number })[] = [];
  const hidden: { number: number; after: number }[] = [];
  const failures: LogFields[] = [];
  let isBroken = false;
  const write = async (work: () => unknown): Promise<void> => {
    if (isBroken) throw new TrackportError('store-unavailable');
    work();
  };
  const inbox = createWebhookInbox({
    hideLead: (number) => write(() => hidden.push({ number, after: commits.length })),
    putEntries: (entries) => write(() => commits.push([...entries])),
    noteMoved: (number) => write(() => moved.push({ number, after: commits.length })),
    renameLabel: (rename) => write(() => renames.push({ ...rename, after: commits.length })),
    toEntries: async (issues) =>
      issues.map((issue) => toDirectoryEntry(issue, leadRules, directoryKey)),
    clock,
    log: { ...silentLog, error: (fields) => failures.push(fields) },
  });
  return {
    clock,
    commits,
    moved,
    renames,
    hidden,
    failures,
    inbox,
    breakStore: (now: boolean) => {
      isBroken = now;
    },
    /** Lets what can go on without the clock go on. */
    turn: async () => {
      for (let at = 0; at < 5; at += 1) await clock.advance(0);
    },
  };
}

function issueOf(number: number, email = `p${number}@example.com`, updatedAt = 1): Issue {
  return {
    number,
    title: 'Lead',
    state: 'open',
    assignees: [],
    createdAt: 0,
    updatedAt,
    isPullRequest: false,
    labels: ['approved'],
    body: leadIssue({ email }).body,
  };
}

const sizes = (commits: DirectoryEntry[][]) => commits.map((entries) => entries.length);

test('the first issue is kept at once, those of the next 40 ms together', async () => {
  const { clock, commits, inbox, turn } = setUp();
  inbox.take(issueOf(1));
  await turn();
  expect(sizes(commits)).toEqual([1]);
  for (let number = 2; number <= 40; number += 1) inbox.take(issueOf(number));
  await clock.advance(39);
  await turn();
  expect(sizes(commits)).toEqual([1]);
  await clock.advance(1);
  await turn();
  expect(sizes(commits)).toEqual([1, 39]);
  await clock.advance(100);
  await turn();
  inbox.take(issueOf(41));
  await turn();
  expect(sizes(commits)).toEqual([1, 39, 1]);
});

test('a storm of distinct issues takes one commit for 250 of them', async () => {
  const { commits, inbox } = setUp();
  for (let number = 1; number <= 1000; number += 1) inbox.take(issueOf(number));
  await inbox.settled();
  expect(sizes(commits)).toEqual([1, 250, 250, 250, 249]);
});

test('a storm about one issue becomes one row, as it was last, with all its identities', async () => {
  const { commits, inbox } = setUp();
  const seen = [
    issueOf(1, 'first@example.com', 1),
    { ...issueOf(1, 'last@example.com', 9), labels: [] },
    issueOf(1, 'between@example.com', 5),
  ];
  for (let round = 0; round < 300; round += 1) for (const issue of seen) inbox.take(issue);
  for (let at = 0; at < 5000; at += 1) inbox.take(issueOf(2, 'same@example.com', at));
  await inbox.settled();
  const rows = commits.flat();
  expect(rows.filter(({ number }) => number === 2)).toMatchObject([{ updatedAt: 4999 }]);
  const ofFirst = rows.filter(({ number }) => number === 1);
  expect(ofFirst.at(-1)).toMatchObject({ updatedAt: 9, isReadable: false, labels: [] });
  const hashes = new Set(
    ofFirst.flatMap(({ identities }) => identities.map(({ hash }) => hash.toString('hex'))),
  );
  expect(hashes.size).toBe(3);
});

test('no state in which an issue could be read is lost behind a later one', async () => {
  const { commits, inbox } = setUp();
  inbox.take(issueOf(9)); // keeps the store busy
  const withLabels = (labels: string[], updatedAt: number) => ({
    ...issueOf(1, 'ada@example.com', updatedAt),
    labels,
  });
  for (let round = 0; round < 3000; round += 1) {
    inbox.take(withLabels(['approved', 'EU'], 1));
    inbox.take(withLabels(['approved', 'West'], 2));
    inbox.take(withLabels(['spam'], 4));
    inbox.take(withLabels(['approved', 'late'], 3)); // behind the one that came after it
  }
  await inbox.settled();
  const rows = commits.flat().filter(({ number }) => number === 1);
  expect(rows).toMatchObject([{ updatedAt: 4, isReadable: false, labels: ['spam'] }]);
  expect(rows[0]?.carried?.toSorted()).toEqual(['approved', 'eu', 'late', 'west']);
});

test('a new name of a label counts for what was there before, and follows it', async () => {
  const { clock, commits, inbox, renames, turn } = setUp();
  inbox.take(issueOf(1));
  for (let number = 2; number <= 300; number += 1) inbox.take(issueOf(number));
  inbox.rename(rename);
  await inbox.settled();
  expect(renames).toEqual([{ ...rename, after: sizes(commits).length }]);
  await clock.advance(1000);
  inbox.rename(rename);
  await turn();
  expect(renames).toHaveLength(2);
});

test('what is too much is left to the next catch-up, and what follows is kept', async () => {
  const { commits, inbox } = setUp();
  for (let number = 1; number <= 2500; number += 1) inbox.take(issueOf(number));
  await inbox.settled();
  expect(commits.flat()).toHaveLength(2001);
  inbox.take(issueOf(3000));
  await inbox.settled();
  expect(commits.flat().at(-1)?.number).toBe(3000);
});

test('so are bodies that are too long to wait together', async () => {
  const { commits, inbox } = setUp();
  const long = (number: number) => ({ ...issueOf(number), body: 'x'.repeat(4 * 1024 * 1024) });
  for (let number = 1; number <= 10; number += 1) inbox.take(long(number));
  inbox.take(issueOf(11));
  await inbox.settled();
  // The first is worked on at once, and four of them have room.
  expect(commits.flat().map((entry) => entry.number)).toEqual([1, 2, 3, 4, 5]);
  for (let number = 12; number <= 15; number += 1) inbox.take(long(number));
  await inbox.settled();
  expect(commits.flat()).toHaveLength(9);
});

test('a store that fails costs one log line for each commit, and nothing later', async () => {
  const { commits, failures, inbox, breakStore } = setUp();
  breakStore(true);
  for (let number = 1; number <= 30; number += 1) inbox.take(issueOf(number));
  await inbox.settled();
  const error = 'TrackportError(store-unavailable)';
  expect(failures).toEqual([
    { issues: 1, error },
    { issues: 29, error },
  ]);
  breakStore(false);
  inbox.take(issueOf(31));
  await inbox.settled();
  expect(sizes(commits)).toEqual([1]);
});

const rename = { from: 'west', to: 'vest', approvedLabel: 'approved', deletedLabel: 'deleted' };

test('what no catch-up shows is tried again when the store is back, a second after it failed', async () => {
  const { clock, failures, hidden, moved, renames, inbox, breakStore, turn } = setUp();
  breakStore(true);
  inbox.hide(1);
  inbox.rename(rename);
  inbox.take(issueOf(2), { isMoved: true });
  await turn();
  await clock.advance(1000);
  await turn();
  await clock.advance(1000);
  await turn();
  expect(failures.map(({ issues }) => issues)).toEqual([0, 1]); // of steps the first one is told
  breakStore(false);
  await clock.advance(1000);
  await turn();
  expect({ hidden, moved, renames }).toEqual({
    hidden: [{ number: 1, after: 0 }],
    moved: [{ number: 2, after: 0 }],
    renames: [{ ...rename, after: 0 }],
  });
});

test('whoever waits for the end has one more try of it, and no third', async () => {
  const { hidden, inbox, breakStore, turn } = setUp();
  breakStore(true);
  inbox.hide(1);
  await turn();
  breakStore(false);
  await inbox.settled();
  expect(hidden).toHaveLength(1);
  breakStore(true);
  inbox.hide(2);
  await inbox.settled();
  breakStore(false);
  inbox.hide(3);
  await inbox.settled();
  expect(hidden.map(({ number }) => number)).toEqual([1, 3]);
});

test('a deleted issue is hidden behind its older states, which may wait for a later commit', async () => {
  const { hidden, inbox } = setUp();
  for (let number = 1; number <= 300; number += 1) inbox.take(issueOf(number));
  for (const number of [2, 300]) inbox.hide(number);
  await inbox.settled();
  expect(hidden).toEqual([
    { number: 2, after: 2 },
    { number: 300, after: 3 },
  ]);
});

test('an issue that moved away is noted as such though there is no room for its state', async () => {
  const { moved, inbox } = setUp();
  for (let number = 1; number <= 2500; number += 1) inbox.take(issueOf(number));
  inbox.take(issueOf(2501), { isMoved: true });
  await inbox.settled();
  expect(moved).toMatchObject([{ number: 2501 }]);
});

test('an issue that moved away is noted as such once it is kept', async () => {
  const { moved, inbox } = setUp();
  inbox.take(issueOf(1));
  inbox.take(issueOf(2));
  inbox.take(issueOf(2), { isMoved: true });
  await inbox.settled();
  expect(moved).toEqual([{ number: 2, after: 2 }]);
});
