import { type Clock, MINUTE, SECOND } from '#shared/clock.ts';
import { leadsUnderLease, type Repository } from '../held-leads.ts';
import { saveProgress } from '../lease-events.ts';
import type { Pacer } from '../may-write.ts';
import type { ActProgress, LeadProgress, WorkItem } from '../work-item.ts';
import { blockedUntil, isOvertaken } from './precedence.ts';

/** Another worker has the event. */
export class LeaseLost extends Error {}
/** A deletion came that goes first. What is done is kept, and the turn to write is still there. */
export class Overtaken extends Error {}

/** Reason that a lead of the event is not written now. */
export type NoTurn =
  /** Earlier work is to be done, or to be seen, first: to be tried again at `retryAt` (ms since the Unix epoch). */
  | { kind: 'blocked'; retryAt: number }
  /** An operator has given the lead back, or a deletion has claimed what an event was to change. */
  | { kind: 'not-held' };

const ASK_AGAIN_MS = SECOND;
/** The earlier work may become due sooner than it was. */
const ASK_AGAIN_MAX_MS = MINUTE;

/** Leads of an event while this worker has its lease. */
export type LeasedLeads = {
  all(): readonly LeadProgress[];
  note(changed: LeadProgress): void;
  drop(number: number): void;
  /** Stores what was noted, for the next try. @throws {LeaseLost} @throws {store-unavailable} */
  save(): Promise<void>;
  /**
   * Waits for the turn to write; undefined when it has come. @throws {LeaseLost} @throws {Overtaken}
   * @throws {store-unavailable} @throws the signal's reason when it is aborted
   */
  turn(number: number): Promise<NoTurn | undefined>;
};

export function createLeasedLeads(
  {
    db,
    repository,
    pacer,
    clock,
  }: Repository & { pacer: Pick<Pacer, 'turn'>; clock: Pick<Clock, 'now'> },
  item: WorkItem & { progress: ActProgress },
  signal: AbortSignal,
): LeasedLeads {
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
      const dueAt = await blockedUntil({ db, repository }, item, number, now);
      if (dueAt !== undefined)
        return {
          kind: 'blocked',
          retryAt: Math.min(Math.max(dueAt, now) + ASK_AGAIN_MS, now + ASK_AGAIN_MAX_MS),
        };
      const numbers = await leadsUnderLease({ db, repository }, item);
      if (!numbers) throw new LeaseLost();
      return numbers.includes(number) ? undefined : { kind: 'not-held' };
    },
  };
}
