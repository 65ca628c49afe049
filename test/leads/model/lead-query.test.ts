import { describe, expect, test } from 'vitest';

import { parseSince } from '#shared/clock.ts';
import { splitLabels } from '#shared/text/labels.ts';
import { toFilter, toIssueQuery } from '#leads/model/lead-query.ts';

describe('since', () => {
  test.each([
    ['2026-03-01T10:00:00Z', '2026-03-01T10:00:00Z'],
    ['2026-03-01t10:00:00.250z', '2026-03-01T10:00:00.250Z'],
    ['2026-03-01T10:00:00+07:00', '2026-03-01T03:00:00Z'],
    ['2026-03-01T10:00:00 07:00', '2026-03-01T03:00:00Z'],
    ['2026-03-01T10:00:00-02:30', '2026-03-01T12:30:00Z'],
    ['2026-03-01', '2026-03-01T00:00:00Z'],
    ['2028-02-29', '2028-02-29T00:00:00Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['0000-01-01', '0000-01-01T00:00:00Z'],
  ])('reads %s', (text, expected) => {
    expect(parseSince(text)).toBe(Date.parse(expected));
  });

  test.each([
    '',
    'yesterday',
    '2026-03-01T10:00:00',
    '2026-03-01 10:00:00Z',
    '2026-02-30',
    '2026-13-01',
    '2026-03-01T24:00:00Z',
    '9999-12-31T23:59:59-01:00',
    '0000-01-01T00:00:00+01:00',
    '2026-03-01T10:60:00Z',
    '2026-03-01T10:00Z',
    '1772359200',
    '2026-03-01T10:00:00+7:00',
  ])('refuses %j', (text) => {
    expect(parseSince(text)).toBeUndefined();
  });
});

describe('labels', () => {
  test('may be repeated, comma-separated, or both', () => {
    expect(splitLabels(['a, b', 'c', ' ', ''])).toEqual(['a', 'b', 'c']);
  });

  test('make the same question in any case and order', () => {
    const ask = (labels: string[], visible: string[]) =>
      toIssueQuery(toFilter({ label: labels }, { labels: visible }, 'Approved'));
    expect(ask(['B', 'a'], ['C'])).toEqual(ask(['c', 'A', 'a'], ['b']));
    expect(ask([], []).labels).toEqual(['approved']);
  });
});
