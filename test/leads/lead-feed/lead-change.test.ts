import { expect, test } from 'vitest';
import { MINUTE } from '#shared/clock.ts';
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
    { number: 1, updatedAt: 1, labels, lookDigest: Buffer.of(1) },
    200,
  );
  expect(change && changeFor(change, ['eu'])).toEqual({ at: 100, hasLeft: true });
});

test('a lead that a label moved for others is told to those alone who have not passed its last change', async () => {
  const changes: LeadChange[] = [];
  const feed = {
    end: () => changes.at(-1)?.position ?? 0,
    changesAfter: (position: number) => changes.filter((one) => one.position > position),
  };
  const { leads, tracker, clock } = createWorld({ feed });
  const { number, updatedAt } = tracker.open();
  const state = { number, isVisible: true, updatedAt, labels: ['approved'] };
  const read = async (cursor?: string) => {
    const signal = new AbortController().signal;
    const query = { limit: 10, fromStart: false, ...(cursor !== undefined && { cursor }) };
    const { items, pagination } = await leads.leadFeed.read(query, everybody, {
      waitMs: 0,
      signal,
    });
    return { types: items.map(({ type }) => type), next: pagination.nextCursor };
  };
  const before = await read();
  const known = nextChange(undefined, state, clock.now() + 1) as LeadChange;
  changes.push(known);
  await clock.advance(MINUTE);
  const after = await read(before.next);
  expect(after.types).toEqual(['lead.changed']);
  const late = { ...state, updatedAt: updatedAt - 1, seen: ['approved', 'eu'] };
  changes.splice(0, 1, nextChange(known, late, clock.now()) as LeadChange);
  expect((await read(after.next)).types).toEqual([]);
  expect((await read(before.next)).types).toEqual(['lead.changed']);
});
