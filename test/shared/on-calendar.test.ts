import { describe, expect, test } from 'vitest';
import { instant } from '#config/schema/partner-schema.ts';
import { occurredAt, type PartnerEvent } from '#partners/event.ts';
import { parseSince } from '#shared/clock.ts';

/** Schemas of times that people and partners give. */
const READERS = {
  'of a query': parseSince,
  'of an event': (text: string) => occurredAt({ occurredAt: text } as PartnerEvent),
  'of the configuration': (text: string) => instant().safeParse(text).data,
};

describe.each(Object.entries(READERS))('a time %s', (_of, read) => {
  test.each([
    '2026-02-30T10:00:00Z',
    '2026-02-29T10:00:00Z',
    '2026-04-31T10:00:00+02:00',
    '2026-13-01T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T23:60:00Z',
  ])('%s is none', (text) => {
    expect(read(text)).toBeUndefined();
  });

  test('at the end of a month and of a leap year is one', () => {
    expect(read('2028-02-29T23:59:59Z')).toBe(Date.UTC(2028, 1, 29, 23, 59, 59));
    expect(read('2026-12-31T23:59:59-02:00')).toBe(Date.UTC(2027, 0, 1, 1, 59, 59));
  });
});

test('a day of the configuration that there is not is none', () => {
  expect(instant().safeParse('2026-02-30').success).toBe(false);
  expect(instant().parse('2028-02-29')).toBe(Date.UTC(2028, 1, 29));
});
