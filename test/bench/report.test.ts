import { expect, test } from 'vitest';
import { renderTable, summarize } from '../../bench/report.ts';
import type { BenchRow, Bound } from '../../bench/row.ts';

const row = (value: number | undefined, more: Partial<BenchRow> = {}): BenchRow => ({
  what: 'hot list ÷ bare Fastify',
  value,
  wanted: { atLeast: 0.9 },
  source: 'clock',
  ...more,
});

test('three runs are one figure: least, middle, greatest, and how far they are apart', () => {
  const [summary] = summarize([[row(0.8)], [row(1)], [row(0.9)]]);
  expect(summary).toMatchObject({ values: [0.8, 1, 0.9], min: 0.8, median: 0.9, max: 1 });
  expect(summary?.spread).toBeCloseTo(0.2 / 0.9);
  expect(summary?.met).toBe(true);
});

test('the middle of all runs decides whether a figure is as wanted', () => {
  expect(summarize([[row(0.8)], [row(0.8)], [row(1)]])[0]?.met).toBe(false);
  const met = (value: number, wanted: Bound) => summarize([[row(value, { wanted })]])[0]?.met;
  expect([met(2, { atMost: 2 }), met(2.1, { atMost: 2 })]).toEqual([true, false]);
  expect([met(4999, { below: 5000 }), met(5000, { below: 5000 })]).toEqual([true, false]);
  expect([met(0, { exactly: 0 }), met(1, { exactly: 0 })]).toEqual([true, false]);
  const { wanted: _wanted, ...unbound } = row(1);
  expect(summarize([[unbound]])[0]?.met).toBeUndefined();
});

test('both stores have a column of their own in the line of a figure', () => {
  const runs = [[row(0.95), row(0.5, { store: 'PostgreSQL', note: 'a note' })]];
  const [head, , line, , note] = renderTable(summarize(runs)).split('\n');
  const cells = (text = '') => text.split('|').map((cell) => cell.trim());
  expect(cells(head)).toEqual(['', 'figure', 'SQLite', 'PostgreSQL', 'wanted', 'source', '']);
  const figures = ['0.95', '0.50 MISSED', '≥ 0.9', 'clock'];
  expect(cells(line)).toEqual(['', 'hot list ÷ bare Fastify', ...figures, '']);
  expect(note).toBe('- hot list ÷ bare Fastify (PostgreSQL): a note');
});

test('a figure that was left out says so, and is not missed', () => {
  const [summary] = summarize([[row(undefined, { note: 'there is no compiler' })]]);
  expect(summary).toMatchObject({ values: [], notes: ['there is no compiler'] });
  expect(summary?.met).toBeUndefined();
  expect(renderTable([summary ?? expect.fail()])).toContain('| left out |');
});

test('a cell of several runs shows all three and the spread in per cent', () => {
  const text = renderTable(summarize([[row(8)], [row(10)], [row(12)]]));
  expect(text).toContain('| 8 / 10 / 12 (40 %) |');
});
