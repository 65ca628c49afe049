import { expect, test } from 'vitest';
import { LABELS_MAX } from '#access/grant.ts';
import { createFeedCursors, type FeedPosition } from '#leads/lead-feed/feed-cursors.ts';
import type { FeedPlace } from '#leads/lead-feed/stored-changes.ts';
import { DAY } from '#shared/clock.ts';
import { createCursorSealer } from '#shared/pagination/page.ts';
import { createFakeClock } from '../../support/clock.ts';
import { keyOf } from '../../support/keys.ts';

const visibility = { consumerId: 'c', labels: ['EU'] };
const position: FeedPosition = { place: [7, 3] };
const sealer = createCursorSealer(keyOf(1));

function setUp() {
  const clock = createFakeClock();
  return { clock, cursors: createFeedCursors(sealer, clock) };
}

const sealed = setUp().cursors.seal(position, visibility);
/** Another sign in the place of one. */
const alteredAt = (at: number): string =>
  `${sealed.slice(0, at)}${sealed[at] === 'A' ? 'B' : 'A'}${sealed.slice(at + 1)}`;

test('a cursor leads to where it was made', () => {
  expect(setUp().cursors.open(sealed, visibility)).toEqual(position);
});

test('a cursor is never too long to come back, whatever a grant asks for and was just shown', () => {
  const { cursors } = setUp();
  const labels = Array.from({ length: LABELS_MAX }, (_, at) => `${at}`.padEnd(200, '語'));
  const shown = Array.from({ length: 100 }, (_, at): FeedPlace => [
    1_795_823_353_789,
    999_900 + at,
  ]);
  const long: FeedPosition = { place: [7, 3], walk: 'w'.repeat(100), shown };
  const reader = { consumerId: 'c', labels };
  expect(cursors.open(cursors.seal(long, reader), reader)).toEqual(long);
});

test('who is told that a text is no cursor begins from the start, and not in the middle', () => {
  const start = expect.stringContaining('`from=start`');
  expect(() => setUp().cursors.open('x', visibility)).toThrow(
    expect.objectContaining({
      detail: start,
      errors: [expect.objectContaining({ parameter: 'cursor', detail: start })],
    }),
  );
});

test.each([
  ['sealed with a key that was lost', sealed, createCursorSealer(keyOf(2)), visibility],
  ['of another consumer', sealed, sealer, { consumerId: 'd', labels: ['EU'] }],
  ['of another grant', sealed, sealer, { consumerId: 'c', labels: [] }],
  ['of a narrower grant', sealed, sealer, { consumerId: 'c', labels: ['EU', 'vip'] }],
  ['of another list', sealer.seal('leads/2', 'c', [position, {}]), sealer, visibility],
  ['of another version', sealer.seal('lead-feed/0', 'c', [1, [], position]), sealer, visibility],
  ['altered in its seal', alteredAt(3), sealer, visibility],
  ['altered in its place', alteredAt(40), sealer, visibility],
  ['altered at its end', alteredAt(sealed.length - 1), sealer, visibility],
  ['cut short', sealed.slice(0, -5), sealer, visibility],
])('nobody goes on from a cursor %s: it is expired', (_what, cursor, own, caller) => {
  const { cursors } = { cursors: createFeedCursors(own, createFakeClock()) };
  expect(() => cursors.open(cursor, caller)).toThrow(
    expect.objectContaining({ code: 'cursor-expired' }),
  );
});

test('a cursor is good for 30 days', async () => {
  const { clock, cursors } = setUp();
  const cursor = cursors.seal(position, visibility);
  await clock.advance(30 * DAY);
  expect(cursors.open(cursor, visibility)).toEqual(position);
  await clock.advance(1);
  expect(() => cursors.open(cursor, visibility)).toThrow(
    expect.objectContaining({ code: 'cursor-expired' }),
  );
});

test.each([
  '',
  'x',
  'start',
  '0',
  'null',
  'no cursor',
  'not-a-cursor',
  '%20',
  `${sealed}=`,
  `${sealed} `,
  'A'.repeat(60),
  'A'.repeat(7000),
])('%j is no cursor by its form', (text) => {
  expect(() => setUp().cursors.open(text, visibility)).toThrow(
    expect.objectContaining({ code: 'invalid-cursor' }),
  );
});
