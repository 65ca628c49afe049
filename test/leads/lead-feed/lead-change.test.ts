import { expect, test } from 'vitest';
import { type LeadChange, readableBy, shownChange } from '#leads/lead-feed/lead-change.ts';

test('a reader of one label that a list has shown a lead, which had gone meanwhile, is told that it went', () => {
  const labels = ['approved', 'eu'];
  const gone: LeadChange = {
    number: 1,
    position: 100,
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
  expect(change && readableBy(change, ['eu'])).toMatchObject({ leftAt: 100 });
});
