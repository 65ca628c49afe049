import {
  ago,
  agoText,
  bytes,
  count,
  counted,
  duration,
  time,
  timeText,
} from '#portal/shell/times.ts';
import { expect, test } from 'vitest';
import { viewer } from './support.ts';

const { nowMs } = viewer;

test('an instant stands in UTC, for the script to turn, its exact UTC in the title', () => {
  const text = time(Date.parse('2026-11-21T13:02:03.999Z'), viewer).toString();
  expect(text).toContain('datetime="2026-11-21T13:02:03Z"');
  expect(text).toContain('title="2026-11-21 13:02:03 UTC"');
  expect(text).toContain('data-style="second">21 Nov 13:02:03<');
});

test.each([
  ['second', '4 Sep 22:30:00 UTC'],
  ['minute', '4 Sep 22:30 UTC'],
  ['day', '4 Sep 2026'],
  ['clock', '22:30 UTC'],
] as const)('as %s it reads %s', (style, text) => {
  expect(timeText(Date.parse('2026-09-04T22:30:00Z'), viewer, style)).toBe(text);
});

test('the year stands beside instants of another one', () => {
  expect(timeText(Date.parse('2025-12-31T23:59:59Z'), viewer, 'minute')).toBe(
    '31 Dec 2025 23:59 UTC',
  );
  expect(timeText(Date.parse('2026-01-01T00:00:00Z'), viewer, 'minute')).toBe('1 Jan 00:00 UTC');
});

test.each([
  [-1, '0 s'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [3_599_999, '59 min'],
  [3_600_000, '1 h'],
  [6_900_000, '1 h 55 min'],
  [10 * 3_600_000 - 1, '9 h 59 min'],
  [24 * 3_600_000 - 1, '23 h'],
  [48 * 3_600_000 - 1, '47 h'],
  [48 * 3_600_000, '2 days'],
  [1200 * 86_400_000, '1,200 days'],
])('%i ms last %s: never rounded up', (ms, text) => {
  expect(duration(ms)).toBe(text);
});

test('ages look back, ends look ahead', () => {
  expect(ago(nowMs - 22_000, viewer).toString()).toContain('>22 s ago<');
  expect(agoText(nowMs - 240_000, viewer)).toBe('4 min ago');
  expect(ago(nowMs + 86_400_000, viewer).toString()).toContain('>in 24 h<');
});

test('numbers are grouped and counted', () => {
  expect(count(4212)).toBe('4,212');
  expect(counted(1, 'receipt')).toBe('1 receipt');
  expect(counted(0, 'receipt')).toBe('0 receipts');
  expect(counted(2, 'reply', 'replies')).toBe('2 replies');
  expect([999, 84_999, 214_000_000].map(bytes)).toEqual(['999 bytes', '84 KB', '214 MB']);
});
