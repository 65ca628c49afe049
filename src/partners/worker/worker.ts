import type { DirectoryFiller, DirectoryStatus } from '#leads/directory/fill-directory.ts';
import { type Clock, HOUR, MINUTE, SECOND, sleepUntilAborted } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import { longestJitteredWaitMs, type Random } from '#shared/resilience/backoff.ts';
import type { Tracing } from '#shared/tracing.ts';
import type { DeletionRules } from './act/act-on-event.ts';
import { MISSING_LOOKS_MS } from './act/act-on-lead.ts';
import {
  createAlarm,
  createLeasing,
  type Leasing,
  type LoopDeps,
  type LoopFailure,
  runLoop,
} from './loops/run-loop.ts';
import { createDirectoryCoverage } from './catch-up.ts';
import type { IssueEditor, PauseCode } from './act/issue-editor.ts';
import { type Matching, matchEvents, UNMATCHED_WAITS_MS } from './match/match-event.ts';
import { createPacer, createTrackerPause, createWriteRefusals } from './may-write.ts';
import type { PartnerList } from '../partner.ts';
import type { ReadDelivery } from '../read-delivery.ts';
import type { OutcomeReporter } from '../receipts/report-outcomes.ts';
import { type ActingDeps, createWalTruncation, runActing, suspectPause } from './loops/acting.ts';
import { createChangeProbe, forgetLeases, readWorkCounts } from './lease-events.ts';
import type { Sealer } from '#shared/crypto/sealer.ts';
import type { Database } from '#shared/database.ts';
import type { Stage, WorkCounts } from './work-item.ts';

export type WorkerDeps = {
  db: Database;
  /** `owner/name` in lower case. */
  repository: string;
  /** Who takes the right to work: another id for each start. */
  instance: string;
  /** Opens the bytes of events. */
  sealer: Sealer;
  filler: Pick<DirectoryFiller, 'catchUp' | 'identify' | 'isListed' | 'learn' | 'status'>;
  editor: IssueEditor;
  partners: Pick<PartnerList, 'all'>;
  readDelivery: ReadDelivery;
  /** Those in force; read once for each event. */
  rules: () => DeletionRules;
  /** The sub-key for directory hashes. */
  directoryKey: Buffer;
  /** Least time between two writes to the tracker, in ms. */
  writeIntervalMs: number;
  clock: Clock;
  log: Log;
  reporter: OutcomeReporter;
  random: Random;
  /** Without it the work is not traced. */
  tracing?: Tracing;
  /** Waits before an event without a match is tried again; default a minute. */
  unmatchedWaitsMs?: readonly number[];
  /** When an issue that is not found is looked for again; default after 5 s, 1 and 10 minutes. */
  missingLooksMs?: readonly number[];
  /** How often a paused worker asks whether it may go on, in ms; default a minute. */
  probeEveryMs?: number;
};

/** Longer than a match waits for the first crawl, or for a tracker that fails. */
const CATCH_UP_WAIT_MAX_MS = MINUTE;
/** A rate limit that lasts longer is asked about early, which costs one call. */
const LIMIT_WAIT_MAX_MS = HOUR;

/** How the worker is, for `/readyz` and metrics. Instants are ms since the Unix epoch. */
export type WorkerStatus = WorkCounts & {
  /**
   * `paused`: the tracker does not let us; nothing is lost, and no try is spent. `failing`: nothing gets
   * done, for the store fails. `standby`: another process works on the store.
   */
  state: 'running' | 'paused' | 'failing' | 'standby' | 'stopped';
  /** With `failing`: the first one that goes on. */
  failure?: LoopFailure;
  reason?: PauseCode;
  pausedSince?: number;
  directory: DirectoryStatus;
};

/** Works off what partners sent. */
export type EventWorker = {
  /**
   * Takes up what is due, also what an earlier process left behind; again after `stop`, too.
   * @throws {store-unavailable}
   */
  start(): Promise<void>;
  /** Something new is due: to be called after every commit that queued events. */
  wake(): void;
  /** The credential for the tracker may be another one: a pause is questioned at once. */
  probeNow(): void;
  /** @throws {store-unavailable} */
  status(): Promise<WorkerStatus>;
  /** Finishes the step under way and gives the rest back. Idempotent. */
  stop(): Promise<void>;
};

/**
 * The worker of a store that has no other. Matching and acting run beside each other, so that a
 * claim never waits behind the paced writes of earlier events.
 */
export function createEventWorker(deps: WorkerDeps): EventWorker {
  let stopping = new AbortController();
  let loopDeps = createLoopDeps(deps, stopping.signal);
  let loops: Promise<void>[] | undefined;
  return {
    start: async () => {
      if (loops) return;
      if (stopping.signal.aborted) {
        stopping = new AbortController();
        loopDeps = createLoopDeps(deps, stopping.signal);
      }
      await forgetLeases(deps, deps.clock.now());
      // Whoever worked on the store before may have written at this very moment.
      loopDeps.act.pacer.noteWrite();
      loops = [runMatching(loopDeps), runActing(loopDeps), runWatching(loopDeps)];
    },
    wake: () => loopDeps.alarms.match.ring(),
    probeNow: () => {
      loopDeps.pause.probeNow();
      loopDeps.alarms.act.ring();
    },
    status: async () => ({
      ...(await readWorkCounts(deps.db)),
      ...toState(loopDeps, loops !== undefined && !stopping.signal.aborted),
      directory: deps.filler.status(),
    }),
    stop: async () => {
      stopping.abort();
      await Promise.all(loops ?? []);
      loops = undefined;
    },
  };
}

const MATCH_BATCH = 100;
/** Deliveries that another process accepted are to be claimed within a second as well. */
const WATCH_EVERY_MS = SECOND / 5;

type MatchingDeps = LoopDeps & {
  db: Pick<Database, 'dataVersion'>;
  leasing: Leasing;
  match: Matching;
};

/** Claims what is due, batch by batch, until the worker stops. Never throws. */
function runMatching(deps: MatchingDeps): Promise<void> {
  const { alarms, leasing, match } = deps;
  return runLoop(deps, 'match', async () => {
    const items = await leasing.lease('match', MATCH_BATCH);
    if (items.length === 0) return leasing.waitMs('match');
    await leasing.workOn(items, () => matchEvents(match, items));
    alarms.act.ring();
    return 0;
  });
}

/** Notices what other processes have queued, until the worker stops. Never throws. */
async function runWatching({
  db,
  alarms,
  clock,
  stopping,
}: Pick<MatchingDeps, 'db' | 'alarms' | 'clock' | 'stopping'>): Promise<void> {
  const hasChanged = createChangeProbe(db);
  while (!stopping.aborted) {
    if (await hasChanged().catch(() => false)) alarms.match.ring();
    await sleepUntilAborted(clock, WATCH_EVERY_MS, stopping);
  }
}

type AllLoopDeps = MatchingDeps & ActingDeps;

function createLoopDeps(deps: WorkerDeps, stopping: AbortSignal): AllLoopDeps {
  const { clock, db, editor, log, filler } = deps;
  const { unmatchedWaitsMs = UNMATCHED_WAITS_MS, probeEveryMs = MINUTE } = deps;
  const { missingLooksMs = MISSING_LOOKS_MS } = deps;
  const pause = createTrackerPause({ clock, log, probeEveryMs });
  const directory = createDirectoryCoverage({
    catchUp: (since) => filler.catchUp(since),
    clock,
    log,
    isLockedOut: () => pause.isLockedOut(),
    onFailure: () => suspectPause({ editor, pause, stopping }),
  });
  const waitMaxMs = (stage: Stage): number =>
    stage === 'match'
      ? Math.max(CATCH_UP_WAIT_MAX_MS, ...unmatchedWaitsMs)
      : Math.max(
          LIMIT_WAIT_MAX_MS,
          longestJitteredWaitMs(deps.rules().retryMs),
          probeEveryMs,
          ...missingLooksMs,
        );
  return {
    ...deps,
    identify: () => filler.identify(),
    probeEveryMs,
    match: { ...deps, unmatchedWaitsMs, directory, nextLookUp: { atMs: -Infinity } },
    act: {
      ...deps,
      isListed: (number) => filler.isListed(number),
      missingLooksMs,
      pacer: createPacer(clock, deps.writeIntervalMs),
      refusals: createWriteRefusals(),
    },
    alarms: { match: createAlarm(clock), act: createAlarm(clock) },
    failures: new Map(),
    leasing: createLeasing({ ...deps, waitMaxMs }),
    pause,
    walTruncation: createWalTruncation({ db, clock, log }),
    stopping,
  };
}

function toState(
  { failures, pause }: Pick<AllLoopDeps, 'failures' | 'pause'>,
  isRunning: boolean,
): Pick<WorkerStatus, 'state' | 'failure' | 'reason' | 'pausedSince'> {
  if (!isRunning) return { state: 'stopped' };
  const [failure] = failures.values();
  if (failure) return { state: 'failing', failure };
  const current = pause.current();
  if (!current) return { state: 'running' };
  return { state: 'paused', reason: current.code, pausedSince: current.since };
}
