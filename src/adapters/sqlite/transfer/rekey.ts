import type { Rekeying, UnreadReceipt } from '#shared/store/rekeying.ts';
import { guard } from '../connection/errors.ts';
import { createKeyWrites, readFingerprint } from '../store-writes.ts';
import { withStopped } from './copy.ts';

/** An event that came once more while it was worked is matched anew at its end. */
const UNREAD = `
  SELECT id, partnerId, receivedAt FROM receipt WHERE number IN (SELECT receipt FROM event
    WHERE outcome = 'PENDING' AND (stage = 'match' OR again > 0)) ORDER BY number`;

/** The directory keeps its rows, which tell what may be shown; the next crawl adds hashes to them. */
const DROP = `
  DELETE FROM session_once; DELETE FROM session;
  DELETE FROM directory_key; DELETE FROM directory_merge; DELETE FROM late_look; DELETE FROM same_event;
  UPDATE event SET payload = NULL WHERE payload IS NOT NULL;
  UPDATE directory_state SET rulesCheck = zeroblob(0);
  DELETE FROM secret_key`;

/** Replaces the key of a stopped store: the whole of what it takes, or nothing. @throws as `withStopped` */
export function rekey(path: string, decide: Rekeying): Promise<void> {
  return withStopped(path, async (handle) => {
    const read = () => handle.prepare<[], UnreadReceipt>(UNREAD).all();
    const next = await decide(guard(read), readFingerprint(handle));
    guard(() => {
      handle.pragma('secure_delete = ON');
      handle.exec(DROP);
      createKeyWrites({ handle }).take(next);
      handle.exec('COMMIT');
    });
  });
}
