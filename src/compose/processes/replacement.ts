/** Whether and when a process that has ended is replaced. */
import { SECOND } from '#shared/clock.ts';
import { doublingSchedule, waitMsAfter } from '#shared/resilience/backoff.ts';

import { StartError } from '../server/start-error.ts';
import type { MemberEnd } from './member.ts';

const REPLACE_WAITS_MS = doublingSchedule(100, 30 * SECOND);
/** Who has served for so long starts with the first wait again. */
const SETTLED_MS = 60 * SECOND;
/** How often in a row a process may end before it serves: while the service starts, and later. */
const FAILED_STARTS_MAX = { starting: 3, serving: 9 };

/** What follows the end of a process: another one after so many ms, or the end of the whole. */
type Sequel = { kind: 'another'; waitMs: number } | { kind: 'in-vain'; error: StartError };

export type Replacement = {
  /**
   * `livedMs` after its start a process has ended. A store that is away is no reason to give up on a
   * service that has served: it comes back, and others serve meanwhile.
   */
  after(end: MemberEnd, facts: { hasServiceStarted: boolean; livedMs: number }): Sequel;
};

/** For one of several processes and those that follow it. */
export function createReplacement(): Replacement {
  let failures = 0;
  let failedStarts = 0;
  return {
    after: (end, { hasServiceStarted, livedMs }) => {
      failures = livedMs < SETTLED_MS ? failures + 1 : 1;
      const another = { kind: 'another', waitMs: waitMsAfter(REPLACE_WAITS_MS, failures) } as const;
      if (hasServiceStarted && end.isStoreAway) return another;
      failedStarts = end.hasListened ? 0 : failedStarts + 1;
      const isWrong = !hasServiceStarted && end.detail !== undefined;
      const isInVain =
        isWrong || failedStarts >= FAILED_STARTS_MAX[hasServiceStarted ? 'serving' : 'starting'];
      return isInVain ? { kind: 'in-vain', error: toStartError(end, failedStarts) } : another;
    },
  };
}

function toStartError({ cause, detail }: MemberEnd, failedStarts: number): StartError {
  return new StartError(
    detail ??
      `A process of the service ended ${failedStarts} times in a row before it served (${cause}). Standard error and the log say more.`,
  );
}
