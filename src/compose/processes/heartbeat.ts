/** Ends processes that hang: a stalled event loop, or one that is frozen, serves nobody and ends by nothing else. */
import { type Clock, sleepUntilAborted } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';

import type { Member } from './member.ts';

/** So often each process is asked before it counts as one that hangs. */
const LOOKS = 6;
/** Who starts loads the program and opens the store, which takes longer than any request. */
const START_FACTOR = 4;

type Watched = Pick<Member, 'pid' | 'isListening' | 'heardAtMs' | 'ask' | 'kill'>;

export type HeartbeatDeps = {
  members: () => readonly Watched[];
  /** Who says nothing for so long hangs, in ms. */
  timeoutMs: number;
  clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
  log: Pick<Log, 'error'>;
  /** Called for each that was ended. */
  onHung: () => void;
};

/**
 * Asks every process for a sign of life until `stopping`, and kills who gives none for too long. Where
 * it is this process that did not run, all of them have the whole time again.
 */
export async function watchProcesses(deps: HeartbeatDeps, stopping: AbortSignal): Promise<void> {
  const { clock, members, timeoutMs } = deps;
  const everyMs = timeoutMs / LOOKS;
  const ended = new WeakSet<Watched>();
  let lookedAtMs = clock.monotonicMs();
  let awakeSinceMs = lookedAtMs;
  while (!stopping.aborted) {
    const nowMs = clock.monotonicMs();
    if (nowMs - lookedAtMs > 2 * everyMs) awakeSinceMs = nowMs;
    lookedAtMs = nowMs;
    for (const member of members()) {
      if (ended.has(member)) continue;
      const silentMs = nowMs - Math.max(member.heardAtMs(), awakeSinceMs);
      if (silentMs < allowedMs(member, timeoutMs)) void member.ask('isHealthy');
      else {
        ended.add(member);
        end(deps, member, silentMs);
      }
    }
    await sleepUntilAborted(clock, everyMs, stopping);
  }
}

function allowedMs(member: Watched, timeoutMs: number): number {
  return member.isListening() ? timeoutMs : START_FACTOR * timeoutMs;
}

function end({ log, onHung }: HeartbeatDeps, member: Watched, silentMs: number): void {
  const fields = { hungPid: member.pid, silentMs: Math.round(silentMs) };
  log.error(fields, 'a process hangs: it is ended');
  onHung();
  member.kill();
}
