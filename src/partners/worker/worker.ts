/** The worker that works off what partners sent: what its loops share, its start and stop, its state. */
import type { KeyObject } from 'node:crypto';
import type { DirectoryFiller, DirectoryStatus } from '#leads/directory/fill-directory.ts';
import type { StoredRepositoryName } from '#leads/lead-store.ts';
import { REPLICA_LAG_MAX_MS } from '#leads/lead-tracker.ts';
import { HOUR, MINUTE, SECOND, type TrackerTime } from '#shared/clock.ts';
import { errorFields, type Log } from '#shared/log.ts';
import { createAlarm } from '#shared/resilience/background.ts';
import { longestJitteredWaitMs, type Random } from '#shared/resilience/backoff.ts';
import type { Tracing } from '#shared/tracing.ts';
import type { DeletionRules } from './act/act-on-event.ts';
import {
  type ActingLoop,
  type LoopFailure,
  type MatchingLoop,
  runActing,
  runMatching,
  runWatching,
  createWalTruncation,
  type WalTruncation,
} from './loops.ts';
import { createDirectoryCoverage } from './match/find-leads.ts';
import type { IssueEditor, PauseCode } from './act/issue-editor.ts';
import { createPacer, createTrackerPause, createWriteRefusals, suspectPause } from './may-write.ts';
import type { PartnerList } from '../partner.ts';
import type { ReadDelivery } from '../read-delivery.ts';
import { dropsPayload } from './settle-event.ts';
import type { OutcomeReporter } from '../receipts/report-outcomes.ts';
import { createLeasing, forgetLeases, makeDue } from './lease-events.ts';
import type { Sealer } from '#shared/crypto/sealer.ts';
import type { Database } from '#shared/database.ts';
import type { Stage } from '../receipts/event-progress.ts';

/** Store, tracker and configuration that the worker works with. */
export type Workplace = {
  db: Database;
  repository: StoredRepositoryName;
  /** Holder of the right to work: another id for each start. */
  instance: string;
  /** Opens the bytes of events. */
  sealer: Sealer;
  filler: DirectoryFiller;
  editor: IssueEditor;
  /** Those of the configuration in force; read once for each request and event. */
  partners: () => PartnerList;
  readDelivery: ReadDelivery;
  /** Those in force; read once for each event. */
  rules: () => DeletionRules;
  /** The sub-key for directory hashes. */
  directoryKey: KeyObject;
  /** Least time between two writes to the tracker, in ms. */
  writeIntervalMs: number;
  clock: TrackerTime;
  log: Log;
  random: Random;
  /** Without it the work is not traced. */
  tracing?: Tracing;
  /** In place of `TIMING`. */
  timing?: Partial<typeof TIMING>;
};

/** Waits that are no setting, in ms. */
const TIMING = {
  /** Before an event that matched nothing is tried again: replicas lag. Then it is UNMATCHED. */
  unmatchedWaitsMs: [MINUTE],
  /** From the first look at an issue that is not found to the next ones. Then, unless it is listed, it is gone. */
  missingLooksMs: [5 * SECOND, MINUTE, 10 * MINUTE],
  /** For so long a comment may be there and not be shown. */
  replicaLagMs: REPLICA_LAG_MAX_MS,
  /** Between two probes while the work is paused. */
  probeEveryMs: MINUTE,
};

/** Longer than a match waits for the first crawl, or for a tracker that fails. */
const CATCH_UP_WAIT_MAX_MS = MINUTE;
/** A rate limit that lasts longer is asked about early, which costs one call. */
const LIMIT_WAIT_MAX_MS = HOUR;

/** Work that is left, for `/readyz` and metrics. */
type WorkCounts = {
  /** Events that wait or are worked on. */
  open: number;
  /** Since when the oldest of them waits: its delivery, or its replay; ms since the Unix epoch. */
  oldestAskedAt?: number;
  /** Events that ended FAILED. */
  deadLetters: number;
  /** Of events that wait for an instance whose configuration has their partner. */
  lackedPartners: readonly string[];
};

/** State of the worker, for `/readyz` and metrics. Instants are ms since the Unix epoch. */
export type WorkerStatus = WorkCounts & {
  /**
   * `paused`: the tracker does not let us; nothing is lost, and no try is spent. `failing`: nothing gets
   * done, for the store fails. `standby`: another instance works on the store.
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
   * Takes up what is due, also what an earlier instance left behind; again after `stop`, too.
   * @throws {store-unavailable}
   */
  start(): Promise<void>;
  /** Something new is due: to be called after every commit that queued events. */
  wake(): void;
  /** Payloads were dropped elsewhere, which are to be in no file of the store either. */
  noteDropped(): void;
  /** The credential for the tracker may be another one: what waits for the tracker is tried at once. */
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
export function createEventWorker(work: Workplace, reporter: OutcomeReporter): EventWorker {
  let stopping = new AbortController();
  let loops = createLoops(work, reporter, stopping.signal);
  let running: Promise<void>[] | undefined;
  return {
    start: async () => {
      if (running) return;
      if (stopping.signal.aborted) {
        stopping = new AbortController();
        loops = createLoops(work, reporter, stopping.signal);
      }
      await forgetLeases(work, work.clock.now());
      // Whoever worked on the store before may have written at this very moment.
      loops.acting.pacer.noteWrite();
      running = [runMatching(loops), runActing(loops), runWatching(loops)];
    },
    wake: () => loops.alarms.match.ring(),
    noteDropped: () => {
      loops.walTruncation.noteDropped();
      loops.alarms.act.ring();
    },
    probeNow: () => {
      loops.pause.probeNow();
      loops.matching.directory.askAgain();
      void makeWaitingDue(work, loops.alarms);
    },
    status: async () => ({
      ...(await readWorkCounts(work.db)),
      ...toState(loops, running !== undefined && !stopping.signal.aborted),
      directory: work.filler.status(),
    }),
    stop: async () => {
      stopping.abort();
      await Promise.all(running ?? []);
      running = undefined;
    },
  };
}

/** Never throws: without the store nothing else is done either. */
async function makeWaitingDue(
  { db, clock, log }: Workplace,
  { match, act }: Loops['alarms'],
): Promise<void> {
  await makeDue(db, clock.now()).catch((error: unknown) =>
    log.warn(errorFields(error), 'what waits for the tracker could not be made due'),
  );
  match.ring();
  act.ring();
}

type Loops = MatchingLoop & ActingLoop;

function createLoops(work: Workplace, reporter: OutcomeReporter, stopping: AbortSignal): Loops {
  const { db, repository, instance, sealer, filler, editor, clock, log, tracing } = work;
  const timing = { ...TIMING, ...work.timing };
  const { unmatchedWaitsMs, missingLooksMs, replicaLagMs, probeEveryMs } = timing;
  const pause = createTrackerPause({ clock, log, probeEveryMs });
  const walTruncation = createWalTruncation({ db, clock, log });
  const waitMaxMs = (stage: Stage): number =>
    stage === 'match'
      ? Math.max(CATCH_UP_WAIT_MAX_MS, ...unmatchedWaitsMs)
      : Math.max(
          LIMIT_WAIT_MAX_MS,
          longestJitteredWaitMs(work.rules().retryMs),
          probeEveryMs,
          ...missingLooksMs,
        );
  const noting = notingDropped(reporter, walTruncation);
  const shared = { db, repository, clock, log, reporter: noting, tracing };
  return {
    db,
    editor,
    identify: () => filler.identify(),
    matching: {
      ...shared,
      unmatchedWaitsMs,
      filler,
      directoryKey: work.directoryKey,
      partners: { all: () => work.partners().all() },
      readDelivery: work.readDelivery,
      directory: createDirectoryCoverage({
        catchUp: (since) => filler.catchUp(since),
        isLockedOut: () => pause.isLockedOut(),
        onFailure: () => suspectPause({ editor, pause, stopping }),
        clock,
        log,
      }),
    },
    acting: {
      ...shared,
      missingLooksMs,
      replicaLagMs,
      editor,
      rules: work.rules,
      random: work.random,
      isListed: (number) => filler.isListed(number),
      pacer: createPacer(clock, work.writeIntervalMs),
      refusals: createWriteRefusals(),
    },
    alarms: { match: createAlarm(clock), act: createAlarm(clock) },
    failures: new Map(),
    leasing: createLeasing({ db, instance, sealer, clock, waitMaxMs }),
    pause,
    walTruncation,
    clock,
    log,
    stopping,
  };
}

/** Has the files learn that a payload was dropped, whichever loop ends the event. */
function notingDropped(reporter: OutcomeReporter, walTruncation: WalTruncation): OutcomeReporter {
  return {
    ...reporter,
    settled: (report) => {
      if (dropsPayload(report.outcome)) walTruncation.noteDropped();
      reporter.settled(report);
    },
  };
}

function toState(
  { failures, pause }: Loops,
  isRunning: boolean,
): Pick<WorkerStatus, 'state' | 'failure' | 'reason' | 'pausedSince'> {
  if (!isRunning) return { state: 'stopped' };
  const [failure] = failures.values();
  if (failure) return { state: 'failing', failure };
  const current = pause.current();
  if (!current) return { state: 'running' };
  return { state: 'paused', reason: current.code, pausedSince: current.since };
}

const COUNTS = `
  SELECT count(*) AS open, min(asked_at) AS oldest_asked_at,
    (SELECT count(*) FROM event WHERE outcome = 'FAILED') AS dead_letters
  FROM event /*sqlite INDEXED BY event_due*/ WHERE outcome = 'PENDING'`;

const LACKED_PARTNERS = `
  SELECT DISTINCT partner_id FROM receipt WHERE number IN
    (SELECT receipt FROM event WHERE outcome = 'PENDING' AND last_error = 'partner-unknown')`;

/** @throws {store-unavailable} */
export async function readWorkCounts(db: Database): Promise<WorkCounts> {
  const counts = await db.get<Omit<WorkCounts, 'lackedPartners'>>(COUNTS);
  const lacked = await db.all<{ partnerId: string }>(LACKED_PARTNERS);
  const lackedPartners = lacked.map(({ partnerId }) => partnerId);
  return { open: 0, deadLetters: 0, ...counts, lackedPartners };
}
