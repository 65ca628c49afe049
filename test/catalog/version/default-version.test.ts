import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lifecycles } from '#catalog/version/artifact.ts';
import { type Candidate, chooseListed, isReadable } from '#catalog/version/version-order.ts';

const version = (text: string, lifecycle: Candidate['lifecycle'], serial: number): Candidate => ({
  version: text,
  type: 'API',
  lifecycle,
  serial,
  createdAt: serial,
});

const listed = (versions: Candidate[], pinned?: number): string | undefined =>
  chooseListed(versions, pinned)?.version;

test('a release beats a higher pre-release, which beats a version that is none', () => {
  const versions = [
    version('zeta', 'PUBLISHED', 1),
    version('3.0.0-rc.1', 'PUBLISHED', 2),
    version('2.0.0', 'PUBLISHED', 3),
    version('1.9.0', 'PUBLISHED', 4),
  ];
  expect(listed(versions)).toBe('2.0.0');
  expect(listed(versions.slice(0, 2))).toBe('3.0.0-rc.1');
  expect(listed(versions.slice(0, 1))).toBe('zeta');
});

test('a published version beats every deprecated one, a draft every retired one', () => {
  const published = version('0.1.0-alpha', 'PUBLISHED', 1);
  const deprecated = version('9.0.0', 'DEPRECATED', 2);
  const draft = version('1.0.0', 'DRAFT', 3);
  const retired = version('8.0.0', 'RETIRED', 4);
  expect(listed([retired, draft, deprecated, published])).toBe('0.1.0-alpha');
  expect(listed([retired, draft, deprecated])).toBe('9.0.0');
  expect(listed([retired, draft])).toBe('1.0.0');
  expect(listed([retired])).toBe('8.0.0');
  expect(listed([])).toBeUndefined();
});

test('the one that was set wins while it can be read', () => {
  const rest = [version('2.0.0', 'PUBLISHED', 2)];
  expect(listed([version('1.0.0', 'PUBLISHED', 1), ...rest], 1)).toBe('1.0.0');
  expect(listed([version('1.0.0', 'DEPRECATED', 1), ...rest], 1)).toBe('1.0.0');
  expect(listed([version('1.0.0', 'RETIRED', 1), ...rest], 1)).toBe('2.0.0');
  expect(listed(rest, 1)).toBe('2.0.0');
});

test('the choice depends on the versions alone, never on their order', () => {
  const candidate = fc.record({
    version: fc.constantFrom('1.0', '1.0.0', 'v1', '2.0.0-rc.1', 'x'),
    lifecycle: fc.constantFrom(...lifecycles),
  });
  fc.assert(
    fc.property(fc.array(candidate, { maxLength: 8 }), fc.nat(9), (given, pinned) => {
      const versions = given.map((one, serial) => ({
        ...version(one.version, one.lifecycle, serial),
        createdAt: 1,
      }));
      const chosen = chooseListed(versions, pinned);
      expect(chooseListed(versions.toReversed(), pinned)).toEqual(chosen);
      if (versions.some(isReadable)) expect(chosen && isReadable(chosen)).toBe(true);
    }),
  );
});
