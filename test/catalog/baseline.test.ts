import { expect, test } from 'vitest';
import type { Lifecycle } from '#catalog/version/artifact.ts';
import { baselineOf, isBeyondComparing } from '#catalog/compatibility.ts';

const versions = (given: Record<string, Lifecycle>) =>
  Object.entries(given).map(([version, lifecycle], at) => ({
    version,
    lifecycle,
    type: 'API',
    serial: at + 1,
    createdAt: at,
  }));

const all = versions({
  '1.0.0': 'PUBLISHED',
  'v1.10': 'PUBLISHED',
  '1.9.0': 'PUBLISHED',
  '1.11.0': 'DRAFT',
  '1.12.0': 'DEPRECATED',
  '1.13.0': 'RETIRED',
  '1.14.0-rc.1': 'PUBLISHED',
  '2.0.0-beta': 'PUBLISHED',
  '10.0.0': 'PUBLISHED',
  summer: 'PUBLISHED',
});

test.each([
  ['1.15.0', 'v1.10'],
  ['01.2', 'v1.10'],
  ['1.0.1', 'v1.10'],
  ['v1.10', '1.9.0'],
  ['2.0.0', '2.0.0-beta'],
  ['2.0.0-beta', undefined],
  ['3.0.0', undefined],
  ['10.0.1', '10.0.0'],
  ['0.1.0', undefined],
  ['autumn', undefined],
])('%s is held against %s', (version, expected) => {
  for (const given of [all, all.toReversed()])
    expect(baselineOf(given, { version })?.version).toBe(expected);
});

test.each([
  ['1.2.3.4', true],
  ['autumn', true],
  ['2025.1', true],
  ['20250101', true],
  ['3.0.0', false],
  ['1.15.0', false],
])('%s is beyond comparing: %s', (version, expected) => {
  expect(isBeyondComparing(all, { version })).toBe(expected);
  expect(
    isBeyondComparing(versions({ [version]: 'PUBLISHED', '2.0.0': 'DRAFT' }), { version }),
  ).toBe(false);
});
