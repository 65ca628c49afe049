import { type Clock, MINUTE, SECOND } from '#shared/clock.ts';
import type { ActProgress, LeadProgress } from '../progress.ts';
import type { Pacer } from '../may-write.ts';
import { blockedUntil, isOvertaken, leadsUnderLease } from '../event-leads.ts';
import { saveProgress } from '../lease-events.ts';
import type { WorkItem } from '../work-item.ts';
import type { Database } from '#shared/database.ts';

/** Another worker has the event. */
export class LeaseLost extends Error {}
/** An operator has given the lead back, or a deletion has claimed what an event was to change. */
export class LeadGone extends Error {}
/** A deletion came that goes first. What is done is kept, and the turn to write is still there. */
export class Overtaken extends Error {}
/** What came before is to be done with the lead first. */
export class LeadBlocked extends Error {
  /** When to ask again: ms since the Unix epoch. */
  readonly retryAt: number;

  constructor(retryAt: number) {
    super();
    this.retryAt = retryAt;
  }
}

const ASK_AGAIN_MS = SECOND;
/** What stands before may be due earlier than it was. */
const ASK_AGAIN_MAX_MS = MINUTE;

/** What is known of an event's leads while this worker has its lease. */
export type LeasedLeads = {
  all(): readonly LeadProgress[];
  note(changed: LeadProgress): void;
  drop(number: number): void;
  /** Stores what was noted, for the next try. @throws {LeaseLost} @throws {store-unavailable} */
  save(): Promise<void>;
  /**
   * Waits for the turn to write. @throws {LeaseLost} @throws {LeadGone} @throws {LeadBlocked}
   * @throws {Overtaken} @throws {store-unavailable}
   * @throws the signal's reason when it is aborted
   */
  turn(number: number): Promise<void>;
};

export type LeasedLeadsDeps = {
  db: Database;
  /** `owner/name` in lower case. */
  repository: string;
  pacer: Pick<Pacer, 'turn'>;
  clock: Pick<Clock, 'now'>;
};

export function openLeads(
  deps: LeasedLeadsDeps,
  item: WorkItem & { progress: ActProgress },
  signal: AbortSignal,
): LeasedLeads {
  const { db, pacer, clock } = deps;
  let { leads } = item.progress;
  return {
    all: () => leads,
    note: (changed) => {
      leads = leads.map((lead) => (lead.number === changed.number ? changed : lead));
    },
    drop: (number) => {
      leads = leads.filter((lead) => lead.number !== number);
    },
    save: async () => {
      const isSaved = await saveProgress(db, item, { ...item.progress, leads }, clock.now());
      if (!isSaved) throw new LeaseLost();
    },
    turn: async (number) => {
      await pacer.turn(signal);
      const now = clock.now();
      if (await isOvertaken(db, item, now)) throw new Overtaken();
      const dueAt = await blockedUntil(deps, item, number, now);
      if (dueAt !== undefined)
        throw new LeadBlocked(
          Math.min(Math.max(dueAt, now) + ASK_AGAIN_MS, now + ASK_AGAIN_MAX_MS),
        );
      const numbers = await leadsUnderLease(deps, item);
      if (!numbers) throw new LeaseLost();
      // Given back a moment ago, perhaps: then nothing more is done to it.
      if (!numbers.includes(number)) throw new LeadGone();
    },
  };
}
