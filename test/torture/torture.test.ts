import { expect, test } from 'vitest';
import { torture } from './torture.ts';

/** The first restart of the store follows from it: within five and a half seconds. */
const SEED_OF_AN_EARLY_RESTART = 5;

test(
  'killed at random moments under load and faults, it loses nothing and touches nothing else',
  { timeout: 150_000 },
  async () => {
    const report = await torture({ seconds: 15, seed: 1 });
    expect(report.violations).toEqual([]);
    expect(report.kills).toBeGreaterThan(1);
    expect(report.walks).toBeGreaterThan(1);
    expect(report.acknowledged).toBeGreaterThan(5);
    expect(report.edits).toBeGreaterThan(10);
    expect(report.trackerFailures / report.trackerCalls).toBeGreaterThan(0.1);
  },
);

test(
  'three instances on a PostgreSQL that crashes, too, lose nothing and show no claimed lead',
  { timeout: 240_000 },
  async () => {
    const report = await torture({
      seconds: 15,
      seed: SEED_OF_AN_EARLY_RESTART,
      instances: 3,
      store: { engine: 'postgres' },
    });
    expect(report.violations).toEqual([]);
    expect(report.kills).toBeGreaterThan(1);
    expect(report.fastRestarts + report.crashRestarts).toBeGreaterThan(0);
    expect(report.walks).toBeGreaterThan(1);
    expect(report.acknowledged).toBeGreaterThan(0);
  },
);
