import type { Rekeying } from '#shared/store/rekeying.ts';
import { replaceKey } from '../../store/transfer/rekey.ts';
import { withStopped } from './copy.ts';

/** Replaces the key of a stopped store: the whole of what it takes, or nothing. @throws as `withStopped` */
export function rekey(url: string, decide: Rekeying): Promise<void> {
  return withStopped(url, (session) => replaceKey(session, decide));
}
