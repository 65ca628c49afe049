import { expect, test } from 'vitest';
import {
  parseChanges,
  renderChanges,
  toInstanceChange,
} from '#leads/instance-changes/instance-change.ts';
import type { Issue } from '#leads/lead-tracker.ts';
import { EVERYTHING, gone, issueChange } from './support.ts';

const issue: Issue = {
  number: 7,
  url: 'https://tracker.example/7',
  title: 'Demo for Ada',
  body: 'ada@example.com',
  state: 'closed',
  labels: ['approved', 'priority:high'],
  assignees: ['grace'],
  author: 'ada',
  createdAt: 1,
  updatedAt: 2,
  isPullRequest: false,
};

test('nothing of an event is published but what decides where its issue is listed', () => {
  const change = toInstanceChange({ kind: 'issue', issue, isGone: true, isMoved: true });
  const { number, state, labels, createdAt, updatedAt, isPullRequest } = issue;
  expect(change).toStrictEqual({
    kind: 'issue',
    issue: { number, state, labels, createdAt, updatedAt, isPullRequest },
    isGone: true,
  });
});

test('an event that says nothing is not published', () => {
  expect(toInstanceChange({ kind: 'ignored' })).toBeUndefined();
  expect(toInstanceChange({ kind: 'everything' })).toEqual(EVERYTHING);
});

test('changes come out of their text as they went in', () => {
  const changes = [issueChange(1), gone(2), EVERYTHING];
  expect(parseChanges(renderChanges(changes))).toEqual(changes);
});

test.each(['', '{}', '[{"kind":"label"}]', '[{"kind":"issue","issue":{"number":"x"}}]'])(
  'a text of another version, %j, may mean anything',
  (text) => {
    expect(parseChanges(text)).toEqual([EVERYTHING]);
  },
);
