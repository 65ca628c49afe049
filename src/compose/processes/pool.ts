/** Keeps so many processes serving: whoever ends is replaced, until the service stops. */
import { SECOND } from '#shared/clock.ts';
import type { Clock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import { doublingSchedule, waitMsAfter } from '#shared/resilience/backoff.ts';

import { StartError } from '../server/start-error.ts';
import type { LogOutput } from '../telemetry/log-output.ts';
import { watchProcesses } from './heartbeat.ts';
import { startMember } from './member.ts';
import type { Member, MemberEnd } from './member.ts';
import type { PackedConfig, Topic, WholeReport } from './messages.ts';

const REPLACE_WAITS_MS = doublingSchedule(100, 30 * SECOND);
/** Who has served for so long starts with the first wait again. */
const SETTLED_MS = 60 * SECOND;
/** How often in a row a process may end before it serves: while the service starts, and later. */
const FAILED_STARTS_MAX = { starting: 3, serving: 9 };
/** Each process ends by itself before, counted from the end of its delay; what hangs is killed then. */
const STOP_MS = 9500;

export type PoolDeps = {
  /** How many. */
  size: number;
  /** How long they serve on after they were told to stop. */
  stopDelayMs: number;
  /** Who says nothing for so long hangs, is killed and replaced; in ms. */
  hangTimeoutMs: number;
  /** What a process that starts now serves with. */
  config: () => PackedConfig;
  clock: Clock;
  log: Log;
  logOutput: Pick<LogOutput, 'write'>;
  whole: (topic: Topic) => Promise<WholeReport[Topic]>;
  /** Called for each that has ended while the service runs. */
  onEnded: (member: Member) => Promise<void>;
  /** Called for each that hung. */
  onHung: () => void;
};

export type Pool = {
  /** Those that live, whether they serve already or not. */
  members(): readonly Member[];
  /** Resolves with the address once all of them listen. @throws {StartError} */
  started: Promise<string>;
  /** Rejects with a `StartError` when no process can be had any more. Never resolves. */
  failed: Promise<never>;
  reload(config: PackedConfig): void;
  /** Resolves when all are gone, within 10 s of the delay. Idempotent. */
  stop(): Promise<void>;
};

type State = {
  deps: PoolDeps;
  members: Set<Member>;
  stop: AbortController;
  hasStarted: boolean;
  onListening: (url: string) => void;
  fail: (error: StartError) => void;
};

/** Starts the processes. Once one cannot be had, stop the rest. */
export function createPool(deps: PoolDeps): Pool {
  const started = Promise.withResolvers<string>();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  const state: State = {
    deps,
    members: new Set(),
    stop: new AbortController(),
    hasStarted: false,
    onListening: (url) => {
      const listening = [...state.members].filter((member) => member.isListening());
      if (listening.length < deps.size) return;
      state.hasStarted = true;
      started.resolve(url);
    },
    fail: failed.reject,
  };
  const slots = Array.from({ length: deps.size }, () => keepOne(state));
  const members = (): readonly Member[] => [...state.members];
  void watchProcesses({ ...deps, members, timeoutMs: deps.hangTimeoutMs }, state.stop.signal);
  return {
    members,
    started: Promise.race([started.promise, failed.promise]),
    failed: failed.promise,
    reload: (config) => {
      for (const member of state.members) member.reload(config);
    },
    stop: () => stopAll(state, slots),
  };
}

/** Has one process serve, and the next one when it ends. */
async function keepOne(state: State): Promise<void> {
  const { clock } = state.deps;
  const { signal } = state.stop;
  let failures = 0;
  let failedStarts = 0;
  while (!signal.aborted) {
    const since = clock.monotonicMs();
    const end = await serveOnce(state);
    if (signal.aborted) return;
    failures = clock.monotonicMs() - since < SETTLED_MS ? failures + 1 : 1;
    failedStarts = end.hasListened ? 0 : failedStarts + 1;
    const waitMs = waitMsAfter(REPLACE_WAITS_MS, failures);
    if (isInVain(state, end, failedStarts)) return state.fail(toStartError(end, failedStarts));
    const { pid, cause, detail } = end;
    state.deps.log.error(
      { endedPid: pid, cause, reason: detail, waitMs },
      'a process has ended: another one follows',
    );
    // Holds this process alive: there may be no other one.
    await clock.sleep(waitMs, { signal }).catch(() => undefined);
  }
}

async function serveOnce({ deps, members, onListening }: State): Promise<MemberEnd> {
  const startConfig = deps.config();
  const member = startMember({
    ...deps,
    config: () => startConfig,
    onListening: (url) => {
      const config = deps.config();
      if (config !== startConfig) member.reload(config); // what changed while it started
      onListening(url);
    },
  });
  members.add(member);
  const end = await member.ended;
  members.delete(member);
  await deps.onEnded(member);
  return end;
}

function isInVain({ hasStarted }: State, { detail }: MemberEnd, failedStarts: number): boolean {
  if (!hasStarted && detail !== undefined) return true;
  return failedStarts >= FAILED_STARTS_MAX[hasStarted ? 'serving' : 'starting'];
}

function toStartError({ cause, detail }: MemberEnd, failedStarts: number): StartError {
  return new StartError(
    detail ??
      `A process of the service ended ${failedStarts} times in a row before it served (${cause}). Standard error and the log say more.`,
  );
}

async function stopAll({ deps, members, stop }: State, slots: Promise<void>[]): Promise<void> {
  stop.abort();
  for (const member of members) member.stop();
  const done = new AbortController();
  void deps.clock.sleep(deps.stopDelayMs + STOP_MS, { signal: done.signal }).then(
    () => members.forEach((member) => member.kill()),
    () => undefined,
  );
  await Promise.all(slots);
  done.abort(new Error('stopped in time'));
}
