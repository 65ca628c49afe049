import { expect, test } from 'vitest';
import { type Confirmed, decideUse, ttlMsOf } from '#leads/reading/confirmed-cache.ts';

const rule = { now: 100_000, freshForMs: 15_000 };
const cached = (ageMs: number, facts: Partial<Confirmed> = {}): Confirmed => ({
  confirmedAt: rule.now - ageMs,
  isLagging: false,
  isInvalidated: false,
  ...facts,
});

test.each<[string, Confirmed | undefined, ReturnType<typeof decideUse>]>([
  ['nothing cached', undefined, 'missing'],
  ['what was confirmed now', cached(0), 'fresh'],
  ['what is a moment younger than freshFor', cached(14_999), 'fresh'],
  ['what is as old as freshFor', cached(15_000), 'expired'],
  ['what an event says is wrong, however young', cached(0, { isInvalidated: true }), 'changed'],
  ['what is wrong and old', cached(99_000, { isInvalidated: true }), 'changed'],
  ['what lags behind an event, for a second', cached(999, { isLagging: true }), 'fresh'],
  ['what lags behind an event, after that', cached(1000, { isLagging: true }), 'changed'],
])('%s', (_what, entry, use) => {
  expect(decideUse(entry, rule)).toBe(use);
});

test('what lags is expired before its second is over when freshFor is shorter', () => {
  const short = { ...rule, freshForMs: 500 };
  expect(decideUse(cached(499, { isLagging: true }), short)).toBe('fresh');
  expect(decideUse(cached(500, { isLagging: true }), short)).toBe('expired');
});

test.each<[string, Confirmed, number]>([
  ['what was confirmed a moment ago', cached(1000), 14_000],
  ['what lags behind an event', cached(400, { isLagging: true }), 600],
  ['what an event says is wrong', cached(1000, { isInvalidated: true }), 0],
  ['what is wrong and old', cached(16_000, { isInvalidated: true }), -1000],
])('the time that is left of %s', (_what, entry, ttlMs) => {
  expect(ttlMsOf(entry, rule)).toBe(ttlMs);
});
