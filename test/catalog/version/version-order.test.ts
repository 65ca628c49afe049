import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { VERSION } from '#catalog/version/artifact.ts';
import {
  compareVersions,
  nextVersion,
  type Orderable,
  orderOf,
} from '#catalog/version/version-order.ts';

const version = fc.oneof(
  fc.stringMatching(/^[0-9A-Za-z](?:[0-9A-Za-z._-]{0,12}[0-9A-Za-z])?$/),
  fc
    .stringMatching(
      /^v?[0-9]{1,20}(?:\.[0-9]{1,3}){0,2}(?:-[0-9a-z-]{1,3}(?:\.[0-9a-z]{1,3}){0,2})?$/,
    )
    .filter((text) => VERSION.test(text)),
);
const orderable: fc.Arbitrary<Orderable> = fc
  .record({
    version,
    createdAt: fc.nat(3),
    serial: fc.nat(1000),
    publishedAt: fc.option(fc.nat(3), { nil: undefined }),
  })
  .map(({ publishedAt, ...rest }) => (publishedAt === undefined ? rest : { ...rest, publishedAt }));

const named = (text: string, serial = 0): Orderable => ({ version: text, createdAt: 0, serial });

test('semantic versions ascend, numbers of any length among them', () => {
  const ascending = [
    'zeta',
    '0.9',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0-rc.1',
    '1.0.0',
    '1.2',
    '1.10.0',
    'v2',
    '10.0.0',
    '2024-06',
    '2024-10',
    '2025-01',
    '9007199254740993.0.0',
    '9007199254740994.0.0',
    `${'9'.repeat(60)}.0.0`,
  ];
  const shuffled = ascending.toReversed().map((text) => named(text));
  expect(shuffled.toSorted(compareVersions).map(({ version }) => version)).toEqual(ascending);
});

test.each([
  ['1.0', '1.0.0'],
  ['v1', '1'],
  ['01.002.3', '1.2.3'],
  ['1.0.0-rc.01', '1.0.0-rc.1'],
])('%s and %s are equal, so that publishing decides', (left, right) => {
  expect(orderOf(left)).toEqual(orderOf(right));
  const published = { ...named(left), publishedAt: 2, createdAt: 1 };
  expect(compareVersions(published, { ...named(right), createdAt: 9 })).toBeGreaterThan(0);
});

test.each([
  ['1.2.3', 2],
  ['v1', 2],
  ['1.2.3-rc.1', 1],
  ['2024-06', 1],
  ['1.2.3.4', 0],
  ['beta', 0],
  ['1_0', 0],
  ['1.0.0-a..b', 0],
])('%s has rank %i', (text, rank) => {
  expect(orderOf(text).rank).toBe(rank);
});

test.each([
  [[], '1.0.0'],
  [['1.0.0'], '1.1.0'],
  [['1.9.7', '1.10.2'], '1.11.0'],
  [['v1'], '1.1.0'],
  [['2.0.0-rc.1', '1.0.0'], '2.1.0'],
  [['2024-06'], '2024.1.0'],
  [['zeta', 'alpha'], '1.0.0'],
  [['zeta', '0.3.0'], '0.4.0'],
  [['1.9007199254740993.0'], '1.9007199254740994.0'],
])('after %j comes %s', (existing, next) => {
  expect(nextVersion(existing.map((text) => named(text)))).toBe(next);
});

test('the order is total: antisymmetric, transitive, and equal only for the same version', () => {
  fc.assert(
    fc.property(orderable, orderable, orderable, (a, b, c) => {
      expect(Math.sign(compareVersions(a, b)) + Math.sign(compareVersions(b, a))).toBe(0);
      if (compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0)
        expect(compareVersions(a, c)).toBeLessThanOrEqual(0);
      if (compareVersions(a, b) === 0) expect(a.serial).toBe(b.serial);
    }),
    { numRuns: 2000 },
  );
});

test('the column sorts as the comparison does', () => {
  const database = new DatabaseSync(':memory:');
  const order = database.prepare('SELECT ? < ? AS less');
  fc.assert(
    fc.property(version, version, (left, right) => {
      const less = order.get(orderOf(left).key, orderOf(right).key)?.['less'] === 1;
      expect(less).toBe(compareVersions(named(left), named(right)) < 0);
    }),
    { numRuns: 2000 },
  );
  database.close();
});

test('the next version is higher than all that exist', () => {
  fc.assert(
    fc.property(fc.array(orderable, { maxLength: 6 }), (existing) => {
      const next = nextVersion(existing);
      for (const former of existing)
        expect(
          compareVersions({ ...named(next ?? '', 2000), createdAt: 9, publishedAt: 9 }, former),
        ).toBeGreaterThan(0);
    }),
  );
});
