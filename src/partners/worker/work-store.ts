import type { Clock } from '#shared/clock.ts';
import { traced, type Tracing } from '#shared/tracing.ts';
import type { EventProgress, MatchProgress, Todo } from './progress.ts';
import type { Match, MatchName } from '#leads/directory/match.ts';
import type {
  Erasure,
  EventErrorCode,
  EventNote,
  EventStep,
  Outcome,
  PartnerPath,
} from '../receipts/receipt.ts';
import type { OutcomeReporter } from '../receipts/report-outcomes.ts';

/** An event's way: first it is matched with leads, which a deletion claims, then the issues are changed. */
export type Stage = EventProgress['stage'];

/** One event that this worker may work on, until the lease ends. */
export type WorkItem<P extends EventProgress = EventProgress> = {
  /** `event.id`. */
  event: number;
  receiptId: string;
  partnerId: string;
  path: PartnerPath;
  /** In the delivery, from 0. */
  position: number;
  /** When the delivery was received: ms since the Unix epoch. */
  receivedAt: number;
  /** The span of the delivery that asked for it, where that was traced. */
  traceparent?: string;
  /** When a lead was created at the latest that it can mean, by the tracker's clock: ms since the Unix epoch. */
  createdBefore: number;
  /** Since when it is due: for an event without progress, when it was asked for. */
  dueAt: number;
  /** Tries that have failed so far. */
  attempts: number;
  /** The event's bytes; undefined when they are gone or cannot be decrypted. */
  payload?: Buffer;
  progress?: P;
  /** Fencing token: every write names it, and changes nothing when another worker took over. */
  lease: string;
};

/** How an event ends. */
export type Settlement = {
  outcome: Extract<Outcome, 'DONE' | 'UNMATCHED' | 'IGNORED' | 'FAILED'>;
  erasure?: Erasure;
  /** Replaces the one that the event has; without it that one stays. */
  note?: EventNote;
  lastError?: EventErrorCode;
  /** The one that succeeded among them. */
  attempts: number;
};

/**
 * `again`: it is not settled, for it came once more meanwhile and is matched anew. `lost`: another
 * worker has it.
 */
export type SettleResult = 'settled' | 'again' | 'lost';

/** Work that is left, for `/readyz` and metrics. */
export type WorkCounts = {
  /** Events that wait or are worked on. */
  open: number;
  /** Since when the oldest of them waits: its delivery, or its replay; ms since the Unix epoch. */
  oldestAskedAt?: number;
  /** Events that ended FAILED. */
  deadLetters: number;
  /** Of events that wait for a process whose configuration has their partner. */
  lackedPartners: readonly string[];
};

/**
 * Port: the worker's view of the events that `receipt-store.ts` accepted. All writes are durable
 * when they answer; those about an item say when its lease was lost. Every
 * call throws `store-unavailable` when the store fails, and then nothing has changed.
 */
export type WorkStore = {
  /**
   * Up to `limit` due events of a stage, leased to the caller: deletions that redact or delete go before the
   * other ones, and those before events; then oldest due first. `aheadMaxMs` is the
   * longest wait that there is: what is due later was stored by a clock that was ahead, and is due now.
   */
  lease(
    stage: Stage,
    now: number,
    limit: number,
    aheadMaxMs?: number,
  ): Promise<readonly WorkItem[]>;
  /** When the next event of the stage that nobody has leased is due (ms since the Unix epoch). */
  nextDueAt(stage: Stage): Promise<number | undefined>;
  /** True when somebody may have queued events since the last call: another process, or this one. Cheap. */
  changedElsewhere(): Promise<boolean>;
  /**
   * Ends all leases: only for the one worker of a store, when it starts. What the last worker had leased when it
   * died, what nobody has begun, and what lacked its partner in the last worker's configuration is due at once.
   */
  forgetLeases(now: number): Promise<void>;
  /**
   * `matchLeads` over the lead directory as it is now. `unknownLeadId`: the number that is among the
   * names and that the directory does not know.
   */
  match(
    names: readonly MatchName[],
    createdBefore: number,
  ): Promise<Match & { unknownLeadId?: number }>;
  /** Gives an item back as it is, so that it can be leased at once. */
  giveBack(item: WorkItem): Promise<void>;
  /**
   * Claims leads for a deletion until the match is certain, takes back those in conflict, and gives the item back
   * with its progress, due at `dueAt`, in one transaction. Returns the numbers that the event holds.
   */
  claim(
    item: WorkItem,
    match: Pick<Match, 'leads' | 'conflicts'>,
    next: {
      progress: MatchProgress;
      dueAt: number;
      attempts: number;
      now: number;
      /** For its history. */
      step?: EventStep;
    },
  ): Promise<readonly number[] | undefined>;
  /**
   * Claims the leads for good, takes back, with a line in the audit log, what was claimed before
   * the match was certain and is not among them, and gives the item back, due at once for its
   * actions on all that it holds; one transaction. Returns the numbers that the event holds.
   */
  confirm(
    item: WorkItem,
    match: Pick<Match, 'leads' | 'conflicts'>,
    next: Todo & { now: number },
  ): Promise<readonly number[] | undefined>;
  /**
   * The leads that a deletion still holds: an operator may have given some back. Those of an event that a
   * rule is for are the ones that were found.
   */
  leadsOf(item: WorkItem): Promise<readonly number[]>;
  /** The same, without those of an event that a deletion has claimed; undefined when the lease was lost. */
  leadsUnderLease(item: WorkItem): Promise<readonly number[] | undefined>;
  /** Whether an event that goes before this one, for what it is and not for its age, is due for its actions. */
  isOvertaken(item: WorkItem, now: number): Promise<boolean>;
  /**
   * When what is to be done with the lead before the event is due (ms since the Unix epoch): an event that
   * came before, or a deletion that has claimed it until its match is certain. Undefined: nothing is, or
   * the item is a deletion, which waits for nobody.
   */
  blockedUntil(item: WorkItem, number: number, now: number): Promise<number | undefined>;
  /** Whether it holds leads of a repository that the configured name does not mean any more. */
  hasLeadsElsewhere(item: WorkItem): Promise<boolean>;
  /** Keeps the progress and renews the lease. */
  saveProgress(item: WorkItem, progress: EventProgress, now: number): Promise<boolean>;
  /** Gives the item back, due at `dueAt`. */
  reschedule(
    item: WorkItem,
    next: {
      dueAt: number;
      attempts: number;
      lastError?: EventErrorCode;
      progress?: EventProgress;
      /** For its history; absent: it only waits. */
      step?: EventStep;
    },
  ): Promise<boolean>;
  /** Gives all of them back, each with its progress and due at its instant, in one transaction. */
  postpone(
    postponed: readonly {
      item: WorkItem;
      progress: EventProgress;
      dueAt: number;
      lastError?: EventErrorCode;
    }[],
  ): Promise<void>;
  /**
   * Ends the event; with DONE or IGNORED its payload is dropped, and with UNMATCHED every claim that no match
   * has confirmed is taken back. An event that came again meanwhile is matched
   * anew at once instead, and so it is whenever it is given back.
   */
  settle(item: WorkItem, settlement: Settlement, now: number): Promise<SettleResult>;
  counts(): Promise<WorkCounts>;
  /** Takes what was dropped out of every file of the store. False: not now, try again. */
  truncateWal(): Promise<boolean>;
};

type EndDeps = {
  store: Pick<WorkStore, 'settle'>;
  clock: Clock;
  reporter: Pick<OutcomeReporter, 'settled'>;
};

/**
 * Settles an event and reports it. `issues` are those that something is still to be done about.
 * @throws {store-unavailable}
 */
export async function endEvent(
  { store, clock, reporter }: EndDeps,
  item: WorkItem,
  settlement: Settlement,
  issues: readonly number[] = [],
): Promise<SettleResult> {
  const result = await store.settle(item, settlement, clock.now());
  const { receiptId, partnerId, path } = item;
  const { outcome, lastError: code } = settlement;
  if (result === 'settled') reporter.settled({ receiptId, partnerId, path, outcome, code, issues });
  return result;
}

/** Runs one step on an event in a span below the delivery that asked for it; `verb` is what it does. */
export function traceStep<T>(
  tracing: Tracing | undefined,
  verb: 'match' | 'act on',
  { path, receiptId, traceparent }: Pick<WorkItem, 'path' | 'receiptId' | 'traceparent'>,
  work: Parameters<typeof traced<T>>[2],
): Promise<T> {
  const options = {
    name: `${verb} ${path === 'events' ? 'event' : 'deletion'}`,
    kind: 'consumer',
    parent: traceparent,
    attributes: { 'trackport.receipt_id': receiptId },
  } as const;
  return traced(tracing, options, work);
}
