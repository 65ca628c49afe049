import { OUTCOME_COUNT_MAX } from '#partners/receipts/outcomes/outcome-counts.ts';
import type { OutcomeCount, OutcomeCounts } from '#partners/receipts/outcomes/outcome-counts.ts';
import type { Outcome } from '#partners/receipts/receipt.ts';
import type { Database } from '../connection/database.ts';

/**
 * Receipts are numbered as they are accepted, so that a time is a number; `event_by_outcome` has all
 * that is counted then.
 */
const countOf = (also = ''): string => `
  WITH span AS (
    SELECT at, first, lead(first) OVER (ORDER BY at) AS next
    FROM (
      SELECT at, (SELECT number FROM receipt WHERE received_at >= start
        ORDER BY received_at LIMIT 1) AS first
      FROM unnest(@starts::bigint[]) WITH ORDINALITY AS given (start, at)) AS bound)
  SELECT at - 1 AS at, outcome, (
    SELECT count(*) FROM (
      SELECT 1 FROM event
      WHERE event.outcome = asked.outcome AND event.receipt >= span.first
        AND event.receipt < coalesce(span.next, 9223372036854775807) ${also}
      LIMIT ${OUTCOME_COUNT_MAX}) AS found) AS count
  FROM span CROSS JOIN unnest(@outcomes::text[]) AS asked (outcome)`;

const ALL = countOf();
const ACKNOWLEDGED = countOf('AND event.acknowledged_at IS NOT NULL');

type Row = { at: number; outcome: Outcome; count: number };

/** Counts events in PostgreSQL. */
export function createOutcomeCounts(database: Pick<Database, 'all'>): OutcomeCounts {
  return {
    count: async (starts, outcomes, which) => {
      const counts = starts.map((): OutcomeCount => ({}));
      const sql = which === 'acknowledged' ? ACKNOWLEDGED : ALL;
      for (const { at, outcome, count } of await database.all<Row>(sql, { starts, outcomes })) {
        const own = counts[at];
        if (own && count > 0) own[outcome] = count;
      }
      return counts;
    },
  };
}
