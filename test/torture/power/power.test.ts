import { expect, test } from 'vitest';
import { cutPower, failDisk } from './power.ts';

test('what was acknowledged before a power cut is there after it, and no deleted lead is shown', async ({
  skip,
}) => {
  const report = await cutPower({ cuts: 3, seed: 1 });
  if (!report) return skip('there is no C compiler (cc)');
  expect(report.violations).toEqual([]);
  expect(report.acknowledged).toBeGreaterThan(0);
  expect(report.claimed).toBeGreaterThan(0);
});

test('a disk that fails an fsync ends the program, and nothing that was answered is missing', async ({
  skip,
}) => {
  const report = await failDisk({ seed: 1 });
  if (!report) return skip('there is no C compiler (cc)');
  expect(report.violations).toEqual([]);
  expect(report.acknowledged).toBeGreaterThan(0);
});
