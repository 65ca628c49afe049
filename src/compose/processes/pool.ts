/** Keeps so many processes serving: whoever ends is replaced, until the service stops. */
import type { Clock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';

import type { StartError } from '../server/start-error.ts';
import type { LogOutput } from '../telemetry/log-output.ts';
import { watchProcesses } from './heartbeat.ts';
import { type Member, type MemberEnd, startMember } from './member.ts';
import type { PackedConfig, Topic, WholeReport } from './messages.ts';
import { createReplacement } from './replacement.ts';

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
  const { clock, log } = state.deps;
  const { signal } = state.stop;
  const replacement = createReplacement();
  while (!signal.aborted) {
    const since = clock.monotonicMs();
    const end = await serveOnce(state);
    if (signal.aborted) return;
    const sequel = replacement.after(end, {
      hasServiceStarted: state.hasStarted,
      livedMs: clock.monotonicMs() - since,
    });
    if (sequel.kind === 'in-vain') return state.fail(sequel.error);
    const { waitMs } = sequel;
    const { pid, cause, detail } = end;
    log.error(
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
