import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatDuration, parseDuration, parseSize } from '#shared/text/units.ts';

test.each([
  ['500ms', 500],
  ['15s', 15_000],
  ['5m', 300_000],
  ['24h', 86_400_000],
  ['30d', 2_592_000_000],
  ['0s', 0],
])('%s is %d ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(['', '15', 's', '1.5s', '-1s', '15 s', '15S', '1w', '1m30s', ' 15s'])(
  '%j is no duration',
  (text) => {
    expect(parseDuration(text)).toBeUndefined();
  },
);

test.each([
  ['512B', 512],
  ['64KiB', 65_536],
  ['1MiB', 1_048_576],
  ['2GiB', 2_147_483_648],
])('%s is %d bytes', (text, bytes) => {
  expect(parseSize(text)).toBe(bytes);
});

test.each(['', '64', '64KB', '64kib', '1.5MiB', 'MiB'])('%j is no size', (text) => {
  expect(parseSize(text)).toBeUndefined();
});

test('a duration that is written is read as the same', () => {
  fc.assert(
    fc.property(fc.nat(999_999_999), (ms) => {
      expect(parseDuration(formatDuration(ms))).toBe(ms);
    }),
  );
});
