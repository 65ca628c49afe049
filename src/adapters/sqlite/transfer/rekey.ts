import type { Rekeying } from '#shared/store/rekeying.ts';
import { replaceKey } from '../../store/transfer/rekey.ts';
import { createSession } from '../connection/session.ts';
import { withStopped } from './copy.ts';

/** Replaces the key of a stopped store: the whole of what it takes, or nothing. @throws as `withStopped` */
export function rekey(path: string, decide: Rekeying): Promise<void> {
  return withStopped(path, async (handle) => {
    const session = createSession(handle);
    await session.exec('PRAGMA secure_delete = ON');
    await replaceKey(session, decide);
    await session.exec('COMMIT');
  });
}
