import { timeline } from '#portal/shell/texts.ts';
import { time } from '#portal/shell/times.ts';
import { expect, test } from 'vitest';
import { reader } from './support.ts';

test('a time line is a list in order, each moment with its state', () => {
  const text = timeline('Attempts of event 1', [
    { state: 'ok', heading: 'Matched', at: time(reader.nowMs, reader) },
    { state: 'bad', heading: 'Attempt 1 failed', content: 'Next in 6 s.' },
  ]).toString();
  expect(text).toContain('aria-label="Attempts of event 1"');
  expect(text.indexOf('Matched')).toBeLessThan(text.indexOf('Attempt 1'));
  expect(text).toContain('<li data-s="bad">');
});
