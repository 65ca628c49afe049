import { setImmediate } from 'node:timers/promises';
import { OUTCOME_COUNT_MAX, type OutcomeCounts } from '#partners/receipts/recent-outcomes.ts';
import type { Outcome } from '#partners/receipts/receipt.ts';
import { type Session, toRecords } from '../session.ts';

/** Receipts are numbered as they are accepted, so that a time is a number. */
const FIRST_SINCE = `
  SELECT number FROM receipt /*sqlite INDEXED BY receipt_by_time*/ WHERE received_at >= @start
  ORDER BY received_at LIMIT 1`;

/** The index has all of it: no event is read. */
const countBy = (index: string, also = ''): string => `
  SELECT outcome, (
    SELECT count(*) FROM (
      SELECT 1 FROM event /*sqlite INDEXED BY ${index}*/
      WHERE event.outcome = asked.outcome AND event.receipt >= @first AND event.receipt < @next
        ${also}
      LIMIT ${OUTCOME_COUNT_MAX}) AS found) AS count
  FROM jsonb_to_recordset(@outcomes) AS asked (outcome text)`;

const ALL = countBy('event_by_outcome');
const ACKNOWLEDGED = countBy('event_acknowledged', 'AND event.acknowledged_at IS NOT NULL');

/** Counts events, a few milliseconds at a time: reads of SQLite are on the event loop. */
export function createOutcomeCounts(session: Session): OutcomeCounts {
  const numberAt = async (start: number): Promise<number> => {
    const row = await session.get<{ number: number }>(FIRST_SINCE, { start });
    return row?.number ?? Number.MAX_SAFE_INTEGER;
  };
  return {
    count: async (starts, outcomes, which) => {
      const sql = which === 'acknowledged' ? ACKNOWLEDGED : ALL;
      const named = toRecords(outcomes.map((outcome) => ({ outcome })));
      const numbers: number[] = [];
      for (const start of starts) numbers.push(await numberAt(start));
      const counts = [];
      for (const [at, first] of numbers.entries()) {
        const next = numbers[at + 1] ?? Number.MAX_SAFE_INTEGER;
        const values = { outcomes: named, first, next };
        const rows = await session.all<{ outcome: Outcome; count: number }>(sql, values);
        const found = rows.filter(({ count }) => count > 0);
        counts.push(Object.fromEntries(found.map(({ outcome, count }) => [outcome, count])));
        await setImmediate();
      }
      return counts;
    },
  };
}
