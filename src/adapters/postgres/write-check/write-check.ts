import type { Clock } from '#shared/clock.ts';
import { createWriteCheck as createCheck } from '#shared/store/write-check.ts';
import type { WriteCheck } from '#shared/store/write-check.ts';
import type { Session } from '../connection/database.ts';

const WRITE = 'UPDATE write_check SET checked_at = @now';

/** Resolves when the store can be written at this moment. @throws {store-unavailable} */
export async function tryWriting(
  session: Pick<Session, 'run'>,
  clock: Pick<Clock, 'now'>,
): Promise<void> {
  await session.run(WRITE, { now: clock.now() });
}

/** Whether PostgreSQL takes writes. */
export function createWriteCheck(
  session: Pick<Session, 'run'>,
  clock: Pick<Clock, 'now' | 'monotonicMs'>,
): WriteCheck {
  return createCheck({ tryWriting: () => tryWriting(session, clock), clock });
}
