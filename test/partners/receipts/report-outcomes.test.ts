import { describe, expect, test } from 'vitest';
import type { Log } from '#shared/log.ts';
import { leadIssue, openDesk } from '../../support/deletion-desk.ts';
import type { DeskOptions } from '../../support/deletion-desk.ts';

type Line = { level: string; msg: string } & Record<string, unknown>;

async function watchedDesk(options: DeskOptions = {}) {
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
  const desk = await openDesk({ ...options, log, count });
  await desk.start();
  const linesAbout = (id: string) => lines.filter(({ receiptId }) => receiptId === id);
  return { desk, counts, linesAbout };
}

const ofPartner = { partnerId: 'crm-one' };

describe('each outcome is logged once, with partner and code, and counted', () => {
  test('DONE', async () => {
    const { desk, counts, linesAbout } = await watchedDesk();
    const { number } = desk.tracker.createIssue(leadIssue());
    const receiptId = await desk.send({ leadId: number });
    await desk.settled(receiptId);
    expect(linesAbout(receiptId)).toEqual([
      { level: 'info', msg: 'event settled', receiptId, ...ofPartner, outcome: 'DONE' },
    ]);
    expect(counts).toEqual([{ ...ofPartner, path: 'deletions', outcome: 'DONE', events: 1 }]);
  });

  test('UNMATCHED, after a line for each look that found nobody', async () => {
    const { desk, counts, linesAbout } = await watchedDesk();
    const receiptId = await desk.send({ email: 'nobody@example.com' });
    await desk.settled(receiptId);
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
    const { desk, counts, linesAbout } = await watchedDesk({ worker: { retryMs: [5, 5] } });
    const well = desk.tracker.createIssue(leadIssue()).number;
    const ill = [1, 2].map(() => desk.tracker.createIssue(leadIssue()).number);
    await desk.filler.catchUp();
    for (const number of ill)
      desk.tracker.fault({ kind: 'status', status: 500, path: `/issues/${number}$`, count: 1000 });
    const receiptId = await desk.send({ email: 'ada@example.com' });
    await desk.settled(receiptId);
    expect(desk.tracker.readIssue(well)?.state).toBe('closed');
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
  const { desk, counts, linesAbout } = await watchedDesk();
  const { number } = desk.tracker.createIssue(leadIssue());
  const gate = desk.tracker.hold({ method: 'PATCH' });
  const receiptId = await desk.send({ leadId: number });
  await gate.arrived();
  await desk.send({ leadId: number });
  gate.open();
  await desk.settled(receiptId);
  expect(linesAbout(receiptId).map(({ msg }) => msg)).toEqual(['event settled']);
  expect(counts).toHaveLength(1);
});
