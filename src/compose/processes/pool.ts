/** Keeps so many processes serving: who ends or hangs is replaced, until the service stops. */
import { type Clock, SECOND, sleepUntilAborted } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import { doublingSchedule, waitMsAfter } from '#shared/resilience/backoff.ts';
import { KILL_AFTER_MS } from '../server/listen.ts';
import { StartError } from '../server/start-error.ts';
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { entryUrl } from '#shared/program.ts';
import type { LogOutput } from '../telemetry/log.ts';
import {
  type ChildCalls,
  createIpc,
  type Ipc,
  type IpcHandlers,
  type PrimaryCalls,
  type ProcessMetrics,
} from './ipc.ts';

const REPLACE_WAITS_MS = doublingSchedule(100, 30 * SECOND);
/** Who has served for so long is replaced after the first wait again. */
const STABLE_MS = 60 * SECOND;
/** So many calls without a return are a process that hangs. */
const MISSES_MAX = 6;
/** Who starts loads the program and opens the store, which takes longer than any request. */
const START_FACTOR = 4;

type PoolDeps = Omit<MemberDeps, 'config'> & {
  /** How many. */
  size: number;
  /** How long they serve on after they were told to stop. */
  stopDelayMs: number;
  /** Who says nothing for so long hangs, is killed and replaced; in ms. */
  hangTimeoutMs: number;
  /** What a process that starts now serves with, packed. */
  config: () => string;
  clock: Clock;
  log: Log;
  /** Called for each that has ended while the service runs. */
  onEnded: (member: Member) => void;
  /** Called for each that hung. */
  onHung: () => void;
};

type Pool = {
  /** Those that live, whether they serve already or not. */
  members(): readonly Member[];
  /** Resolves with the address once all of them listen. Then stop them, if it rejects. @throws {StartError} */
  started: Promise<string>;
  reload(config: string): void;
  /** Resolves when all are gone, within 10 s of the delay. Idempotent. */
  stop(): Promise<void>;
};

/** Starts the processes. */
export function createPool(deps: PoolDeps): Pool {
  const { clock, log, size } = deps;
  const members = new Set<Member>();
  const { promise: started, resolve, reject } = Promise.withResolvers<string>();
  const stopping = new AbortController();
  const { signal } = stopping;
  let hasStarted = false;

  const startOne = async (member: Member): Promise<string | undefined> => {
    members.add(member);
    const start = await Promise.race([member.started, member.ended]);
    if (typeof start !== 'object') return undefined;
    if ('reason' in start) {
      void member.call('stop');
      return start.reason;
    }
    hasStarted ||= [...members].filter((one) => one.isListening()).length === size;
    if (hasStarted) resolve(start.url);
    return undefined;
  };
  /** Has one process serve, and the next one when it ends. */
  const keepOne = async (): Promise<void> => {
    for (let failures = 1; !signal.aborted; failures += 1) {
      const since = clock.monotonicMs();
      const member = startMember({ ...deps, config: deps.config() });
      const reason = await startOne(member);
      const cause = await member.ended;
      members.delete(member);
      deps.onEnded(member);
      if (signal.aborted) return;
      if (!hasStarted) return reject(startError(cause, reason));
      if (clock.monotonicMs() - since >= STABLE_MS) failures = 1;
      const waitMs = waitMsAfter(REPLACE_WAITS_MS, failures);
      const facts = { endedPid: member.pid, cause, reason, waitMs };
      log.error(facts, 'a process has ended: another one follows');
      // Holds this process alive: there may be no other one.
      await clock.sleep(waitMs, { signal }).catch(() => undefined);
    }
  };
  const all = Promise.all(Array.from({ length: size }, keepOne));
  void killWhoHangs({ ...deps, members }, signal);
  return {
    members: () => [...members],
    started,
    reload: (config) => members.forEach((member) => void member.call('reload', config)),
    stop: async () => {
      stopping.abort();
      for (const member of members) void member.call('stop');
      const done = new AbortController();
      void clock.sleep(deps.stopDelayMs + KILL_AFTER_MS, { signal: done.signal }).then(
        () => members.forEach((member) => member.kill()),
        () => undefined,
      );
      await all;
      done.abort(new Error('stopped in time'));
    },
  };
}

function startError(cause: string, reason: string | undefined): StartError {
  return new StartError(
    reason ??
      `A process of the service ended before it served (${cause}). Standard error and the log say more.`,
  );
}

type Watched = Pick<Member, 'pid' | 'isListening' | 'kill'> & {
  call: (name: 'isHealthy') => Promise<unknown>;
};

type WatchDeps = Pick<PoolDeps, 'clock' | 'hangTimeoutMs' | 'log' | 'onHung'> & {
  members: Iterable<Watched>;
};

/**
 * Calls every process for a sign of life until `stopping`, and kills who gives none for too long: a stalled event
 * loop, or one that is frozen, ends by nothing else. Calls are counted, not time: while this process did not run,
 * nobody was called.
 */
export async function killWhoHangs(deps: WatchDeps, stopping: AbortSignal): Promise<void> {
  const { clock, hangTimeoutMs, log, members, onHung } = deps;
  const everyMs = hangTimeoutMs / MISSES_MAX;
  const missed = new WeakMap<Watched, number>();
  while (!stopping.aborted) {
    for (const member of members) {
      const misses = missed.get(member) ?? 0;
      missed.set(member, misses + 1);
      if (misses === MISSES_MAX * (member.isListening() ? 1 : START_FACTOR)) {
        const fields = { hungPid: member.pid, silentMs: Math.round(misses * everyMs) };
        log.error(fields, 'a process hangs: it is ended');
        onHung();
        member.kill();
      } else void member.call('isHealthy').then(() => missed.set(member, 0));
    }
    await sleepUntilAborted(clock, everyMs, stopping);
  }
}

export type Member = {
  pid: number | undefined;
  isListening(): boolean;
  call: Ipc<ChildCalls>;
  /** What came of its start; never resolves when it ended before. */
  started: Promise<ChildCalls['start'] | undefined>;
  /** Resolves with the exit code or the signal when it is gone and its log has been read. */
  ended: Promise<string>;
  /** What it said last, for as long as it says nothing newer. */
  lastMetrics: ProcessMetrics;
  kill(): void;
};

type MemberDeps = {
  /** What it serves with, packed. */
  config: string;
  logOutput: Pick<LogOutput, 'write'>;
  /** What the service as a whole says. */
  whole: IpcHandlers<PrimaryCalls>;
};

/** Starts one more process, which runs `child.ts` with the options of this one. */
function startMember({ config, logOutput, whole }: MemberDeps): Member {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({
    exec: fileURLToPath(entryUrl('compose/processes/child')),
    args: [],
    execArgv: [...process.execArgv, '--enable-source-maps'],
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const worker = cluster.fork();
  worker.on('error', () => undefined); // `close` follows, and tells
  forwardLines(worker, logOutput);
  const call = createIpc<ChildCalls, PrimaryCalls>(worker, whole);
  let hasListened = false;
  return {
    pid: worker.process.pid,
    isListening: () => hasListened && worker.isConnected(),
    call,
    started: call('start', config).then((start) => {
      hasListened = start !== undefined && 'url' in start;
      return start;
    }),
    ended: once(worker.process, 'close').then(([code, signal]) =>
      String(signal ?? `exit code ${code}`),
    ),
    lastMetrics: [],
    kill: () => void worker.process.kill('SIGKILL'),
  };
}

/** Lines of several processes in one pipe would be torn: this process writes all of them. */
function forwardLines({ process: { stdout } }: Worker, output: Pick<LogOutput, 'write'>): void {
  let begun = '';
  stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = `${begun}${text}`.split('\n');
    begun = lines.pop() ?? '';
    for (const line of lines) output.write(`${line}\n`);
  });
}
