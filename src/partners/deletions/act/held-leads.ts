import type { Clock } from '#shared/clock.ts';
import type { ActProgress, LeadProgress } from '../deletion-progress.ts';
import type { Pacer } from '../../worker/pacer.ts';
import type { WorkItem, WorkStore } from '../../worker/work-store.ts';

/** Another worker has the event. */
export class LeaseLost extends Error {}
/** An operator has given the lead back. */
export class LeadReleased extends Error {}

/** What is known of an event's leads while this worker has its lease. */
export type HeldLeads = {
  all(): readonly LeadProgress[];
  note(changed: LeadProgress): void;
  drop(number: number): void;
  /** Stores what was noted, for the next try. @throws {LeaseLost} @throws {store-unavailable} */
  save(): Promise<void>;
  /**
   * Waits for the turn to write. @throws {LeaseLost} @throws {LeadReleased} @throws {store-unavailable}
   * @throws the signal's reason when it is aborted
   */
  turn(number: number): Promise<void>;
};

export type HeldLeadsDeps = {
  store: Pick<WorkStore, 'heldUnderLease' | 'saveProgress'>;
  pacer: Pick<Pacer, 'turn'>;
  clock: Pick<Clock, 'now'>;
};

export function holdLeads(
  { store, pacer, clock }: HeldLeadsDeps,
  item: WorkItem & { progress: ActProgress },
  signal: AbortSignal,
): HeldLeads {
  const { stage, actions } = item.progress;
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
      const isSaved = await store.saveProgress(item, { stage, actions, leads }, clock.now());
      if (!isSaved) throw new LeaseLost();
    },
    turn: async (number) => {
      await pacer.turn(signal);
      const held = await store.heldUnderLease(item);
      if (!held) throw new LeaseLost();
      // Given back a moment ago, perhaps: then nothing more is done to it.
      if (!held.includes(number)) throw new LeadReleased();
    },
  };
}
