import type { Database } from '#shared/database.ts';

/** Work that is left, for `/readyz` and metrics. */
export type WorkCounts = {
  /** Events that wait or are worked on. */
  open: number;
  /** Since when the oldest of them waits: its delivery, or its replay; ms since the Unix epoch. */
  oldestAskedAt?: number;
  /** Events that ended FAILED. */
  deadLetters: number;
  /** Of events that wait for an instance whose configuration has their partner. */
  lackedPartners: readonly string[];
};

const COUNTS = `
  SELECT count(*) AS open, min(asked_at) AS oldest_asked_at,
    (SELECT count(*) FROM event WHERE outcome = 'FAILED') AS dead_letters
  FROM event /*sqlite INDEXED BY event_due*/ WHERE outcome = 'PENDING'`;

const LACKED_PARTNERS = `
  SELECT DISTINCT partner_id FROM receipt WHERE number IN
    (SELECT receipt FROM event WHERE outcome = 'PENDING' AND last_error = 'partner-unknown')`;

/** @throws {store-unavailable} */
export async function readWorkCounts(db: Database): Promise<WorkCounts> {
  const counts = await db.get<Omit<WorkCounts, 'lackedPartners'>>(COUNTS);
  const lacked = await db.all<{ partnerId: string }>(LACKED_PARTNERS);
  const lackedPartners = lacked.map(({ partnerId }) => partnerId);
  return { open: 0, deadLetters: 0, ...counts, lackedPartners };
}
