import { expect, test } from 'vitest';

import { toDirectoryEntry } from '#leads/directory/lead-directory.ts';
import { TrackportError } from '#shared/errors.ts';
import { createWorld, everybody, rules, type World } from '../support.ts';
import { keyOf } from '../../support/keys.ts';

const DELETED = ['approved', 'Deleted-By-Partner '];
const NO_LEAD = { code: 'lead-not-found' };

/** One lead that a deletion took in former times, with the approved label put back, and a common one. */
function worldAfterRestore(): World {
  const world = createWorld();
  world.tracker.open({ labels: DELETED });
  world.tracker.open();
  return world;
}

test('a list never shows an issue with the deleted label, claimed or not', async () => {
  const world = worldAfterRestore();
  expect(await world.ids()).toEqual(['2']);
  expect(await world.ids({ state: 'all' })).toEqual(['2']);
  expect(await world.ids({ since: 0 })).toEqual(['2']);
  expect(await world.ids({ labels: ['deleted-by-partner'] })).toEqual([]);
});

test('an issue with the deleted label cannot be read alone, from a cached page or by itself', async () => {
  const world = worldAfterRestore();
  const { tracker, leads } = world;
  await expect(leads.reader.read('1', everybody)).rejects.toMatchObject(NO_LEAD);
  await expect(
    leads.reader.read('1', { consumerId: 'c2', labels: ['approved'] }),
  ).rejects.toMatchObject(NO_LEAD);
  await world.ids();
  const calls = tracker.calls.length;
  await expect(leads.reader.read('1', everybody)).rejects.toMatchObject(NO_LEAD);
  expect(tracker.calls).toHaveLength(calls);
});

test('a webhook that tells of the deleted label hides the lead, also while the tracker is away', async () => {
  const world = createWorld();
  const { clock, tracker, leads } = world;
  tracker.open();
  expect(await world.ids()).toEqual(['1']);
  await clock.advance(1000);
  const issue = tracker.change(1, { labels: DELETED });
  leads.applyEvent({ kind: 'issue', issue, isGone: false });
  tracker.failure = new TrackportError('tracker-unavailable');
  expect(await world.ids()).toEqual([]);
  await expect(leads.reader.read('1', everybody)).rejects.toMatchObject(NO_LEAD);
});

test('another deleted label counts at once for what is cached already', async () => {
  const own = { ...rules };
  const world = createWorld({ rules: own });
  const { tracker, leads } = world;
  tracker.open({ labels: ['approved', 'gone'] });
  expect(await world.ids()).toEqual(['1']);
  expect(await world.ids()).toEqual(['1']);
  own.deletedLabel = 'Gone';
  expect(await world.ids()).toEqual([]);
  await expect(leads.reader.read('1', everybody)).rejects.toMatchObject(NO_LEAD);
  own.deletedLabel = 'deleted-by-partner';
  expect(await world.ids()).toEqual(['1']);
});

test('the directory knows an issue with the deleted label as one that nobody reads', () => {
  const { tracker } = createWorld();
  const key = keyOf(0);
  expect(toDirectoryEntry(tracker.open({ labels: DELETED }), rules, key).isReadable).toBe(false);
  expect(toDirectoryEntry(tracker.open(), rules, key).isReadable).toBe(true);
});
