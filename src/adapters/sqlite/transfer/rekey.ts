import type { Rekeying } from '#shared/store/rekeying.ts';
import { keyWrites, readFingerprint } from '../../store/secret-key.ts';
import { createSession } from '../connection/session.ts';
import { withStopped } from './copy.ts';

/** An event that came once more while it was worked is matched anew at its end. */
const UNREAD = `
  SELECT id, partner_id, received_at FROM receipt WHERE number IN (SELECT receipt FROM event
    WHERE outcome = 'PENDING' AND (stage = 'match' OR again > 0)) ORDER BY number`;

/** The directory keeps its rows, which tell what may be shown; the next crawl adds hashes to them. */
const DROP = `
  DELETE FROM session_once; DELETE FROM session;
  DELETE FROM directory_key; DELETE FROM directory_merge; DELETE FROM late_look; DELETE FROM same_event;
  UPDATE event SET payload = NULL WHERE payload IS NOT NULL;
  UPDATE directory_state SET rules_check = zeroblob(0);
  DELETE FROM secret_key`;

/** Replaces the key of a stopped store: the whole of what it takes, or nothing. @throws as `withStopped` */
export function rekey(path: string, decide: Rekeying): Promise<void> {
  return withStopped(path, async (handle) => {
    const session = createSession(handle);
    const next = await decide(await session.all(UNREAD), await readFingerprint(session));
    await session.exec(`PRAGMA secure_delete = ON; ${DROP}`);
    await keyWrites.take(session, next);
    await session.exec('COMMIT');
  });
}
