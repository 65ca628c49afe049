/** Tells operators of outcomes: a line in the log, a count for metrics. */
import { toRfc3339 } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import type { Outcome, PartnerPath } from './receipt.ts';

type SettledOutcome = Exclude<Outcome, 'PENDING'>;

/** Events of one receipt that ended in the same way. */
type OutcomeReport = {
  receiptId: string;
  partnerId: string;
  path: PartnerPath;
  outcome: SettledOutcome;
  /** Why, for outcomes that need a reason. */
  code?: string;
  /** Number of events; default 1. */
  events?: number;
  /** Numbers of the issues that something is still to be done about. */
  issues?: readonly number[];
};

type FailedAttempt = {
  receiptId: string;
  partnerId: string;
  code: string;
  /** Attempts so far, this one among them. */
  attempts: number;
  /** Due time of the next one; ms since the Unix epoch. */
  nextAt: number;
};

/** Tells operators what becomes of events. Nothing of it names a person. */
export type OutcomeReporter = {
  /** To be called once for each outcome, after it is durable. */
  settled(report: OutcomeReport): void;
  /** An attempt that failed and is not the last one. */
  attemptFailed(attempt: FailedAttempt): void;
};

/** Counts events that ended in the same way, for metrics. */
export type OutcomeCounter = (
  of: { partnerId: string; path: PartnerPath; outcome: SettledOutcome },
  events: number,
) => void;

/** Outcomes that a person should look at. */
const worrying: ReadonlySet<SettledOutcome> = new Set(['UNMATCHED', 'REJECTED', 'FAILED']);

/** One line in the log and one count for each outcome; a line for each attempt that failed. */
export function createOutcomeReporter({
  log,
  count,
}: {
  log: Log;
  count: OutcomeCounter;
}): OutcomeReporter {
  return {
    settled: ({ issues = [], events = 1, ...report }) => {
      const { receiptId, partnerId, path, outcome, code } = report;
      count({ partnerId, path, outcome }, events);
      const level = worrying.has(outcome) ? 'warn' : 'info';
      const fields = {
        receiptId,
        partnerId,
        outcome,
        code,
        ...(events > 1 && { events }),
        ...(issues.length > 0 && { issues: issues.join(',') }),
      };
      log[level](fields, outcome === 'FAILED' ? 'dead letter' : 'event settled');
    },
    attemptFailed: ({ nextAt, ...attempt }) =>
      log.warn({ ...attempt, nextAttemptAt: toRfc3339(nextAt) }, 'attempt failed'),
  };
}
