import { randomBytes } from 'node:crypto';
import type { Clock } from '#shared/clock.ts';
import { newUuid } from '#shared/ids.ts';
import { createWriteCheck as createCheck, LARGE_BYTES } from '#shared/store/write-check.ts';
import type { WriteCheck } from '#shared/store/write-check.ts';
import type { Database } from './connection/database.ts';

const TOUCH = 'UPDATE write_check SET checked_at = @now';

/**
 * Another table may have room in its file where those of deliveries have none. Under a number that no delivery
 * ever has.
 */
const DELIVERY = `
  WITH delivery AS (
    INSERT INTO receipt (number, id, partner_id, path, event_type, correlation_id, status, received_at)
    VALUES (-1, @id, '', 'events', '', '', 'ACCEPTED', @now) RETURNING number)
  INSERT INTO event (id, receipt, position, outcome, due_at, payload)
  SELECT -1, number, 0, 'PENDING', @now, @payload FROM delivery`;

/** Whether PostgreSQL takes writes. */
export function createWriteCheck(
  database: Pick<Database, 'run' | 'transaction'>,
  clock: Pick<Clock, 'now' | 'monotonicMs'>,
): WriteCheck {
  const unwanted = new Error('a delivery that was tried is rolled back');
  const touch = async () => void (await database.run(TOUCH, { now: clock.now() }));
  const tryRoom = async () => {
    const payload = randomBytes(LARGE_BYTES); // what can be compressed takes less
    const rolledBack = database.transaction(async (session) => {
      await session.run(DELIVERY, { id: newUuid(), now: clock.now(), payload });
      throw unwanted;
    });
    await rolledBack.catch((error: unknown) => {
      if (error !== unwanted) throw error;
    });
  };
  return createCheck({ touch, tryRoom, clock });
}
