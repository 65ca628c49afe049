import { expect, test } from 'vitest';
import { torture } from './torture.ts';

/** The first restart of the store follows from it: within five and a half seconds. */
const SEED_OF_AN_EARLY_RESTART = 5;
/** It goes on until there was enough of everything. `npm run torture` takes as long as one likes. */
const SECONDS = 5;
/** A machine that is busy with other things as well takes longer, and does the same. */
const TIMEOUT_MS = 600_000;

test(
  'killed at random moments under load and faults, it loses nothing and touches nothing else',
  { timeout: TIMEOUT_MS },
  async () => {
    const least = {
      kills: 2,
      walks: 2,
      changes: 20,
      unapproved: 1,
      acknowledged: 6,
      edits: 11,
    };
    const report = await torture({ seconds: SECONDS, seed: 1, least });
    expect(report.violations).toEqual([]);
    expect(report.kills).toBeGreaterThan(1);
    expect(report.walks).toBeGreaterThan(1);
    expect(report.acknowledged).toBeGreaterThan(5);
    expect(report.edits).toBeGreaterThan(10);
    expect(report.changes).toBeGreaterThan(19);
    expect(report.unapproved).toBeGreaterThan(0);
    expect(report.trackerFailures / report.trackerCalls).toBeGreaterThan(0.1);
  },
);

test(
  'three instances on a PostgreSQL that crashes, too, lose nothing and show no claimed lead',
  { timeout: TIMEOUT_MS },
  async () => {
    const report = await torture({
      seconds: SECONDS,
      seed: SEED_OF_AN_EARLY_RESTART,
      least: { kills: 2, restarts: 1, walks: 2, acknowledged: 1, changes: 20 },
      instances: 3,
      store: { engine: 'postgres' },
    });
    expect(report.violations).toEqual([]);
    expect(report.kills).toBeGreaterThan(1);
    expect(report.fastRestarts + report.crashRestarts).toBeGreaterThan(0);
    expect(report.walks).toBeGreaterThan(1);
    expect(report.acknowledged).toBeGreaterThan(0);
    expect(report.changes).toBeGreaterThan(19);
  },
);
