import { expect, test } from 'vitest';
import { createRefusalLimiter } from '#http/limits.ts';
import { isTrackportError, TrackportError } from '#shared/errors.ts';
import { createFakeClock } from '../support/clock.ts';

const refusal = new TrackportError('unauthorized');

function setUp(limitPerMinute = 1) {
  const clock = createFakeClock();
  const countRefusal = createRefusalLimiter(clock, limitPerMinute);
  const codeFor = (address: string, error: unknown = refusal): string => {
    const thrown = countRefusal(address, error);
    return isTrackportError(thrown) ? thrown.code : String(thrown);
  };
  return { clock, codeFor };
}

test('an address that used up its share gets 429 until the minute is over', async () => {
  const { clock, codeFor } = setUp(2);
  const codes = [1, 2, 3].map(() => codeFor('192.0.2.1'));
  expect(codes).toEqual(['unauthorized', 'unauthorized', 'quota-exceeded']);
  expect(codeFor('192.0.2.2')).toBe('unauthorized');
  await clock.advance(60_000);
  expect(codeFor('192.0.2.1')).toBe('unauthorized');
});

test('only refused credentials count', () => {
  const { codeFor } = setUp();
  const unavailable = new TrackportError('store-unavailable');
  for (const _ of [1, 2, 3]) expect(codeFor('192.0.2.1', unavailable)).toBe('store-unavailable');
  expect(codeFor('192.0.2.1')).toBe('unauthorized');
});

test.each([
  ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', true],
  ['2001:DB8:1:2::1', '2001:db8:1:2::2', true],
  ['2001:db8::1', '2001:db8:0:0:1::', true],
  ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
  ['::1', '::2', true],
  ['::ffff:192.0.2.1', '::ffff:192.0.2.2', false],
])('%s and %s share a window: %s', (first, second, isShared) => {
  const { codeFor } = setUp();
  codeFor(first);
  expect(codeFor(second)).toBe(isShared ? 'quota-exceeded' : 'unauthorized');
});
