import {
  bars,
  type Lane,
  lanes,
  quotaBar,
  type Series,
  type Slot,
} from '#portal/shell/pictures.ts';
import { expect, test } from 'vitest';
import { flat, hoursUntil, viewer } from './support.ts';

const series: Series[] = [
  { key: 'DONE', label: 'Done', state: 'ok' },
  { key: 'FAILED', label: 'Failed', state: 'bad' },
];
const hours = hoursUntil(viewer.nowMs, 24);
const given = { id: 'pic', heading: 'Receipts per hour', unit: 'receipt', series };

const slotsWith = (counts: Record<number, Record<string, number>>): Slot[] =>
  hours.map((startMs, at) => ({ startMs, counts: counts[at] ?? {} }));

test('bars say in a sentence what they show', () => {
  const slots = slotsWith({ 3: { DONE: 20, FAILED: 1 }, 23: { DONE: 4 } });
  const text = bars({ ...given, slots }, viewer).toString();
  expect(text).toMatch(
    /25 receipts in 24 hours: 24 done, 1 failed\. Most at <time[^>]*>18:00<\/time\s*>: 21\./,
  );
  expect(text).toContain('<title>18:00 UTC: 20 done, 1 failed</title>');
  expect(text).toContain('<title>17:00 UTC: none</title>');
  expect(text.match(/<rect/g)).toHaveLength(3);
});

test('bars stand on the ground, on each other, and below the top', () => {
  const slots = slotsWith({ 0: { DONE: 20, FAILED: 10 } });
  const text = bars({ ...given, slots }, viewer).toString();
  expect(text).toMatch(/data-s="ok"\s+x="1"\s+y="33.33"\s+width="8"\s+height="66.67"/);
  expect(text).toMatch(/data-s="bad"\s+x="1"\s+y="0"\s+width="8"\s+height="33.33"/);
});

test('the same stands in a table, the newest first', () => {
  const text = bars({ ...given, slots: slotsWith({ 23: { DONE: 4 } }) }, viewer).toString();
  const rows = text.split('<tr role="row">');
  expect(rows).toHaveLength(26);
  expect(rows[2]).toContain('>21 Nov 14:00</time></th>');
  expect(rows[2]).toContain('<div>4</div>');
});

test('nothing at all is said plainly', () => {
  expect(bars({ ...given, slots: slotsWith({}) }, viewer).toString()).toContain(
    'No receipt in 24 hours.',
  );
});

test.each([
  [1, '3'],
  [28, '30'],
  [31, '60'],
  [1000, '1,500'],
])('with a largest bar of %i the axis ends at %s', (largest, top) => {
  const text = bars({ ...given, slots: slotsWith({ 0: { DONE: largest } }) }, viewer).toString();
  expect(text).toMatch(new RegExp(`class="y" aria-hidden="true"\\s*>\\s*<span>${top}</span>`));
});

test('a lane has its own sentence, what is announced is outlined', () => {
  const span: Lane['spans'][number] = { state: 'warn', fromMs: 50, untilMs: 75 };
  const text = flat(
    lanes({
      headingId: 'h',
      caption: 'c',
      fromMs: 0,
      untilMs: 100,
      nowMs: 60,
      axis: ['a', 'b'],
      lanes: [
        {
          label: '1.0.0',
          sentence: 'Deprecated.',
          spans: [span, { ...span, announced: true, fromMs: 75, untilMs: 200 }],
        },
      ],
    }),
  );
  expect(text).toContain('role="img" aria-label="Deprecated."');
  expect(text).toMatch(/data-s="warn" x="50" y="5" width="25"/);
  expect(text).toMatch(/class="plan" x="75" y="5" width="25"/);
  expect(text).toContain('M60 0V20');
});

test.each([
  [4212, 'ok', 84.2],
  [999, 'warn', 19.9],
  [499, 'bad', 9.9],
  [6000, 'ok', 100],
])('of 5,000 calls %i left are %s', (left, state, width) => {
  const text = quotaBar('q', 'c', { remaining: left, limit: 5000 }).toString();
  expect(text).toMatch(new RegExp(`data-s="${state}"\\s+width="${width}"`));
});
