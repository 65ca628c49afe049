import { codeBlock, details, timeline } from '#portal/shell/texts.ts';
import { time } from '#portal/shell/times.ts';
import { expect, test } from 'vitest';
import { hostile, isInert, reader } from './support.ts';

test('code can be scrolled by keyboard and is named', () => {
  expect(codeBlock('a\n  b', 'Command').toString()).toMatch(
    /tabindex="0" role="region" aria-label="Command"\s*>a\n {2}b<\/pre\s*>/,
  );
});

test('a time line is a list in order, each moment with its state', () => {
  const text = timeline('Attempts of event 1', [
    { state: 'ok', heading: 'Matched', at: time(reader.nowMs, reader) },
    { state: 'bad', heading: 'Attempt 1 failed', content: 'Next in 6 s.' },
  ]).toString();
  expect(text).toContain('aria-label="Attempts of event 1"');
  expect(text.indexOf('Matched')).toBeLessThan(text.indexOf('Attempt 1'));
  expect(text).toContain('<li data-s="bad">');
});

test.each([
  ['code', codeBlock(hostile, hostile)],
  ['details', details(hostile, hostile)],
  ['time line', timeline(hostile, [{ state: 'ok', heading: hostile, content: hostile }])],
])('what is put into %s stays text', (_, html) => {
  expect(isInert(html)).toBe(true);
});
