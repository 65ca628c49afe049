import { OUTCOME_COUNT_MAX } from '#partners/receipts/outcomes/outcome-counts.ts';
import type { OutcomeCount, OutcomeCounts } from '#partners/receipts/outcomes/outcome-counts.ts';
import type { Outcome } from '#partners/receipts/receipt.ts';
import { setImmediate } from 'node:timers/promises';
import type { Database } from '../connection/database.ts';
import { guard } from '../connection/errors.ts';

/** Receipts are numbered as they are accepted, so that a time is a number. */
const FIRST_SINCE = `
  SELECT number FROM receipt INDEXED BY receipt_by_time WHERE receivedAt >= ?
  ORDER BY receivedAt LIMIT 1`;

/** The index has all of it: no event is read. */
const countBy = (index: string, also = ''): string => `
  SELECT count(*) FROM (
    SELECT 1 FROM event INDEXED BY ${index}
    WHERE outcome = ? AND receipt >= ? AND receipt < ? ${also} LIMIT ${OUTCOME_COUNT_MAX})`;

/** Counts events in SQLite, a few milliseconds at a time: reads are on the event loop. */
export function createOutcomeCounts({ handle }: Pick<Database, 'handle'>): OutcomeCounts {
  const firstSince = handle.prepare<[number], number>(FIRST_SINCE).pluck();
  const prepare = (sql: string) => handle.prepare<[Outcome, number, number], number>(sql).pluck();
  const countAll = prepare(countBy('event_by_outcome'));
  const countAcknowledged = prepare(
    countBy('event_acknowledged', 'AND acknowledgedAt IS NOT NULL'),
  );
  const numberAt = (start: number): number => firstSince.get(start) ?? Number.MAX_SAFE_INTEGER;
  return {
    count: async (starts, outcomes, which) => {
      const countOne = which === 'acknowledged' ? countAcknowledged : countAll;
      const numbers = guard(() => starts.map(numberAt));
      const counts: OutcomeCount[] = [];
      for (const [at, first] of numbers.entries()) {
        const next = numbers[at + 1] ?? Number.MAX_SAFE_INTEGER;
        const count: OutcomeCount = {};
        for (const outcome of outcomes) {
          const events = guard(() => countOne.get(outcome, first, next)) ?? 0;
          if (events > 0) count[outcome] = events;
        }
        counts.push(count);
        await setImmediate();
      }
      return counts;
    },
  };
}
