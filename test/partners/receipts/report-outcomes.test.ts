import { describe, expect, test } from 'vitest';
import type { Log } from '#shared/log.ts';
import { leadIssue } from '../../support/deletions/tracker.ts';
import { type DeletionOptions, openDeletions } from '../../support/deletions/world.ts';

type Line = { level: string; msg: string } & Record<string, unknown>;

async function watchedWorld(options: DeletionOptions = {}) {
  const lines: Line[] = [];
  const keep = (level: string) => (fields: object, msg: string) =>
    void lines.push({ level, msg, ...fields });
  const log: Log = {
    isDebug: () => false,
    debug: () => undefined,
    info: keep('info'),
    warn: keep('warn'),
    error: keep('error'),
  };
  const counts: unknown[] = [];
  const count = (of: object, events: number) => void counts.push({ ...of, events });
  const world = await openDeletions({ ...options, log, count });
  await world.start();
  const linesAbout = (id: string) => lines.filter(({ receiptId }) => receiptId === id);
  return { world, counts, linesAbout };
}

const ofPartner = { partnerId: 'crm-one' };

describe('each outcome is logged once, with partner and code, and counted', () => {
  test('DONE', async () => {
    const { world, counts, linesAbout } = await watchedWorld();
    const { number } = world.tracker.createIssue(leadIssue());
    const receiptId = await world.send({ leadId: number });
    await world.settled(receiptId);
    expect(linesAbout(receiptId)).toEqual([
      { level: 'info', msg: 'event settled', receiptId, ...ofPartner, outcome: 'DONE' },
    ]);
    expect(counts).toEqual([{ ...ofPartner, path: 'deletions', outcome: 'DONE', events: 1 }]);
  });

  test('UNMATCHED, after a line for each look that found nobody', async () => {
    const { world, counts, linesAbout } = await watchedWorld();
    const receiptId = await world.send({ email: 'nobody@example.com' });
    await world.settled(receiptId);
    const missed = {
      level: 'warn',
      msg: 'attempt failed',
      receiptId,
      ...ofPartner,
      code: 'no-lead-found',
      nextAttemptAt: expect.stringMatching(/^\d{4}-.*Z$/),
    };
    expect(linesAbout(receiptId)).toEqual([
      { ...missed, attempts: 1 },
      { ...missed, attempts: 2 },
      { level: 'warn', msg: 'event settled', receiptId, ...ofPartner, outcome: 'UNMATCHED' },
    ]);
    expect(counts).toEqual([{ ...ofPartner, path: 'deletions', outcome: 'UNMATCHED', events: 1 }]);
  });

  test('FAILED, as a dead letter that names the issues, after a line for each attempt', async () => {
    const { world, counts, linesAbout } = await watchedWorld({ worker: { retryMs: [5, 5] } });
    const well = world.tracker.createIssue(leadIssue()).number;
    const ill = [1, 2].map(() => world.tracker.createIssue(leadIssue()).number);
    await world.filler.catchUp();
    for (const number of ill)
      world.tracker.fault({ kind: 'status', status: 500, path: `/issues/${number}$`, count: 1000 });
    const receiptId = await world.send({ email: 'ada@example.com' });
    await world.settled(receiptId);
    expect(world.tracker.readIssue(well)?.state).toBe('closed');
    const failed = { level: 'warn', receiptId, ...ofPartner, code: 'tracker-server' };
    expect(linesAbout(receiptId)).toEqual([
      { ...failed, msg: 'attempt failed', attempts: 1, nextAttemptAt: expect.any(String) },
      { ...failed, msg: 'attempt failed', attempts: 2, nextAttemptAt: expect.any(String) },
      { ...failed, msg: 'dead letter', outcome: 'FAILED', issues: ill.join(',') },
    ]);
    expect(counts).toEqual([{ ...ofPartner, path: 'deletions', outcome: 'FAILED', events: 1 }]);
  });
});

test('an event that came again while it was worked on is reported when it is settled', async () => {
  const { world, counts, linesAbout } = await watchedWorld();
  const { number } = world.tracker.createIssue(leadIssue());
  const gate = world.tracker.hold({ method: 'PATCH' });
  const receiptId = await world.send({ leadId: number });
  await gate.arrived();
  await world.send({ leadId: number });
  gate.open();
  await world.settled(receiptId);
  expect(linesAbout(receiptId).map(({ msg }) => msg)).toEqual(['event settled']);
  expect(counts).toHaveLength(1);
});
