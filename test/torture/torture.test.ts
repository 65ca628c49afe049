import { expect, test } from 'vitest';
import { torture } from './torture.ts';

test(
  'killed at random moments under load and faults, it loses nothing and touches nothing else',
  { timeout: 150_000 },
  async () => {
    const report = await torture({ seconds: 15, seed: 1 });
    expect(report.violations).toEqual([]);
    expect(report.kills).toBeGreaterThan(1);
    expect(report.walks).toBeGreaterThan(1);
    expect(report.acknowledged).toBeGreaterThan(10);
    expect(report.edits).toBeGreaterThan(10);
    expect(report.trackerFailures / report.trackerCalls).toBeGreaterThan(0.1);
  },
);
