import { expect, test } from 'vitest';
import { MINUTE } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { whileTimePasses } from '../../support/clock.ts';
import {
  changeFor,
  type LeadChange,
  nextChange,
  shownChange,
} from '#leads/lead-feed/lead-change.ts';
import { createWorld, everybody } from '../support.ts';

test('a reader of one label that a list has shown a lead, which had gone meanwhile, is told that it went', () => {
  const labels = ['approved', 'eu'];
  const gone: LeadChange = {
    number: 1,
    position: 100,
    changedAt: 100,
    isVisible: false,
    updatedAt: 1,
    labels: ['approved'],
    carried: [
      ['', 50, 100],
      ['approved', 50, 100],
    ],
  };
  const change = shownChange(
    gone,
    { number: 1, updatedAt: 1, labels, leadDigest: Buffer.of(1) },
    200,
  );
  expect(change && changeFor(change, ['eu'])).toEqual({ at: 100, hasLeft: true });
});

/** A feed of these changes, and a reader of everything. */
function openFeed() {
  const changes: LeadChange[] = [];
  const feed = {
    end: () => changes.at(-1)?.position ?? 0,
    changesAfter: (position: number) => changes.filter((one) => one.position > position),
  };
  const { leads, tracker, clock } = createWorld({ feed });
  const read = async (cursor?: string) => {
    const signal = new AbortController().signal;
    const query = { limit: 10, fromStart: false, ...(cursor !== undefined && { cursor }) };
    const page = leads.leadFeed.read(query, everybody, { waitMs: 0, signal });
    const { items, pagination } = await whileTimePasses(clock, page);
    return { items: items.map(({ type, id }) => `${type} ${id}`), next: pagination.nextCursor };
  };
  const open = () => {
    const { number, updatedAt } = tracker.open();
    return { number, isVisible: true, updatedAt, labels: ['approved'] };
  };
  return { changes, tracker, clock, read, open };
}

test('a lead that a label moved for others is told to those alone who have not passed its last change', async () => {
  const { changes, clock, read, open } = openFeed();
  const state = open();
  const before = await read();
  const known = nextChange(undefined, state, clock.now() + 1) as LeadChange;
  changes.push(known);
  await clock.advance(MINUTE);
  const after = await read(before.next);
  expect(after.items).toEqual(['lead.changed 1']);
  const late = { ...state, updatedAt: state.updatedAt - 1, seen: ['approved', 'eu'] };
  changes.splice(0, 1, nextChange(known, late, clock.now()) as LeadChange);
  expect((await read(after.next)).items).toEqual([]);
  expect((await read(before.next)).items).toEqual(['lead.changed 1']);
});

test('a lead that a read finds gone is told to whoever had a later removal while the tracker failed', async () => {
  const { changes, tracker, clock, read, open } = openFeed();
  const [first, second] = [open(), open()];
  const before = await read();
  const known = nextChange(undefined, second, clock.now() + 1) as LeadChange;
  changes.push(nextChange(undefined, first, clock.now() + 2) as LeadChange);
  changes.push(nextChange(known, { ...second, isVisible: false }, clock.now() + 3) as LeadChange);
  await clock.advance(MINUTE);
  tracker.failure = new TrackportError('tracker-unavailable');
  const alone = await read(before.next);
  expect(alone.items).toEqual(['lead.removed 2']);
  tracker.failure = undefined;
  tracker.change(1, { labels: [] });
  await clock.advance(MINUTE);
  expect((await read(alone.next)).items).toEqual(['lead.removed 1']);
});
