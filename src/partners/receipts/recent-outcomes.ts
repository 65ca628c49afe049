import { setImmediate } from 'node:timers/promises';
import { type Clock, DAY, HOUR, SECOND } from '#shared/clock.ts';
import type { Statements } from '#shared/database.ts';
import { createSingleFlight } from '#shared/resilience/single-flight.ts';
import { toRecords } from '#shared/sql.ts';
import { type Outcome, outcomes } from './receipt.ts';

/** Events of one span of time by outcome; outcomes that none has are left out. */
type OutcomeCount = Partial<Record<Outcome, number>>;

/** A count goes no further: what a person reads is no different, and no store is held up. */
const OUTCOME_COUNT_MAX = 100_000;

/** Events of the hour that begins at `startMs` (milliseconds since the Unix epoch). */
type HourOfOutcomes = { startMs: number; counts: OutcomeCount };

export type RecentOutcomes = {
  /** The last 24 full or running hours of UTC, oldest first. */
  hours: readonly HourOfOutcomes[];
  /** Of the last 7 days: what did not end well, and nobody has acknowledged. */
  week: Pick<OutcomeCount, 'FAILED' | 'UNMATCHED' | 'REJECTED'>;
};

const ENDED_BADLY = ['FAILED', 'UNMATCHED', 'REJECTED'] as const;
const HOURS = 24;
const FRESH_MS = 10 * SECOND;

/**
 * Reads the outcomes of recent events, for operators: at most 10 seconds old, so that many readers
 * cost no more than one. @throws {store-unavailable}
 */
export function createOutcomeReader({
  db,
  clock,
}: {
  db: Statements;
  clock: Pick<Clock, 'now' | 'monotonicMs'>;
}) {
  let last: { at: number; value: RecentOutcomes } | undefined;
  const countOpen = async (since: number): Promise<RecentOutcomes['week']> => {
    const [all = {}] = await countOutcomes(db, [since], ENDED_BADLY);
    const [acknowledged = {}] = await countOutcomes(db, [since], ENDED_BADLY, 'acknowledged');
    const open = (one: Outcome): number => (all[one] ?? 0) - (acknowledged[one] ?? 0);
    const counts = ENDED_BADLY.map((one) => [one, open(one)] as const);
    return Object.fromEntries(counts.filter(([, events]) => events > 0));
  };
  const read = createSingleFlight(async (): Promise<RecentOutcomes> => {
    const at = clock.monotonicMs();
    const now = clock.now();
    const current = Math.floor(now / HOUR) * HOUR;
    const starts = Array.from({ length: HOURS }, (_, n) => current - (HOURS - 1 - n) * HOUR);
    const counts = await countOutcomes(db, starts, outcomes);
    const week = await countOpen(now - 7 * DAY);
    const hours = starts.map((startMs, n) => ({ startMs, counts: counts[n] ?? {} }));
    last = { at, value: { hours, week } };
    return last.value;
  });
  return async (): Promise<RecentOutcomes> =>
    last && clock.monotonicMs() - last.at < FRESH_MS ? last.value : read();
}

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

/**
 * Of the events received from each start (milliseconds since the Unix epoch, ascending) to the next, the last span to
 * now, those of each of the outcomes, up to `OUTCOME_COUNT_MAX`. Where the clock was set back meanwhile, an event may
 * count in the span beside its own. `acknowledged`: of those only. Works a few milliseconds at a time, for reads of
 * SQLite are on the event loop. @throws {store-unavailable}
 */
export async function countOutcomes(
  db: Statements,
  starts: readonly number[],
  named: readonly Outcome[],
  which?: 'acknowledged',
): Promise<OutcomeCount[]> {
  const sql = which === 'acknowledged' ? ACKNOWLEDGED : ALL;
  const outcomesNamed = toRecords(named.map((outcome) => ({ outcome })));
  const numbers: number[] = [];
  for (const start of starts) numbers.push(await numberAt(db, start));
  const counts: OutcomeCount[] = [];
  for (const [at, first] of numbers.entries()) {
    const next = numbers[at + 1] ?? Number.MAX_SAFE_INTEGER;
    const values = { outcomes: outcomesNamed, first, next };
    const rows = await db.all<{ outcome: Outcome; count: number }>(sql, values);
    const found = rows.filter(({ count }) => count > 0);
    counts.push(Object.fromEntries(found.map(({ outcome, count }) => [outcome, count])));
    await setImmediate();
  }
  return counts;
}

async function numberAt(db: Statements, start: number): Promise<number> {
  const row = await db.get<{ number: number }>(FIRST_SINCE, { start });
  return row?.number ?? Number.MAX_SAFE_INTEGER;
}
