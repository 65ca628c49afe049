import { either } from '#shared/sql.ts';

/**
 * `event.rank`, by which events take turns: deletions that redact or delete, then the other deletions, then
 * what rules are for. While it is matched a deletion is of the second.
 */
const RANKS = [0, 1, 2];

/** Nobody has it. */
const IS_DUE = `
  outcome = 'PENDING' AND due_at <= @now AND (lease_until IS NULL OR lease_until <= @now)`;

/** Of each rank so many, as its index has them in order: what waits for its instant is not read. */
const DUE_OF_RANKS = RANKS.map(
  (rank) => `SELECT * FROM (SELECT id, ${rank} AS rank, due_at FROM event
    WHERE stage = @stage AND rank = ${rank} AND ${IS_DUE}
    ORDER BY due_at ${either(', id', '')} LIMIT @limit) AS due_${rank}`,
).join(' UNION ALL ');

/** The next ones of a stage. SQLite sorts what its index has in order already, if it is asked for more of an order. */
export const DUE = `
  SELECT event.id AS event, receipt.id AS receipt_id, receipt.partner_id, receipt.path,
    receipt.received_at, receipt.traceparent, event.position, event.due_at, event.created_before, event.attempts, event.payload, event.progress
  FROM (SELECT * FROM (${DUE_OF_RANKS}) AS due_of_ranks ORDER BY rank, due_at, id LIMIT @limit) AS due
    JOIN event ON event.id = due.id JOIN receipt ON receipt.number = event.receipt
  ORDER BY due.rank, due.due_at, due.id`;

/** Whether another event would have the turn of the one that is worked on; not one that was refused, and may be again. */
export const OVERTAKEN = `
  SELECT 1 FROM event WHERE stage = 'act' AND rank IN (${RANKS.join(', ')}) AND ${IS_DUE}
    AND last_error IS DISTINCT FROM 'forbidden'
    AND rank < (SELECT rank FROM event WHERE id = @event) LIMIT 1`;
