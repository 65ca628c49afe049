import type { Clock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import { foldLabel } from '#shared/text/labels.ts';
import { hideLeadNow } from '../lead-feed/stored-changes.ts';
import type { DirectoryStore } from '../lead-store.ts';
import type { Issue, TrackerEvent } from '../lead-tracker.ts';
import type { LeadRules } from '../model/lead.ts';
import type { DirectoryEntry } from './lead-directory.ts';
import { createReadLeads } from './read-leads.ts';
import { createRechecks } from './recheck-leads.ts';
import { createWebhookInbox, type WebhookInbox } from './webhook-inbox.ts';
import { noteMoved, renameLabel } from './write-directory.ts';

type IncomingOptions = {
  store: DirectoryStore;
  toEntries: (issues: readonly Issue[]) => Promise<DirectoryEntry[]>;
  /** Forgets which repository the name means. */
  identify: { forget(): void };
  hasPartners(): boolean;
  /** Asks the tracker for an issue, and takes it in. */
  learn: (number: number) => Promise<unknown>;
  rules: Pick<LeadRules, 'approvedLabel' | 'deletedLabel'>;
  clock: Clock;
  log: Log;
};

/** Brings into the lead directory what the tracker's webhook tells, and what readers are shown. */
export function createIncoming(options: IncomingOptions) {
  const { store } = options;
  const rechecks = createRechecks(options);
  const inbox = createWebhookInbox({
    ...options,
    putEntries: rechecks.put,
    noteMoved: (number) => noteMoved(store, number),
    renameLabel: (rename) => renameLabel(store, rename),
    hideLead: (number) => hideLeadNow(store, number),
  });
  const readLeads = createReadLeads(options);
  const settled = async (): Promise<void> => {
    await Promise.all([inbox.settled(), readLeads.settled()]);
  };
  return {
    apply: (event: TrackerEvent): void => apply(options, inbox, event),
    takeRead: (issues: readonly Issue[]): void => {
      if (options.hasPartners()) readLeads.take(issues);
    },
    settled,
    stop: (): Promise<void> => settled().then(rechecks.stop),
  };
}

function apply(
  { rules: { approvedLabel, deletedLabel }, identify }: IncomingOptions,
  inbox: WebhookInbox,
  event: TrackerEvent,
): void {
  if (event.kind === 'everything') {
    identify.forget();
    const { renamedLabel: label } = event;
    if (label)
      inbox.rename({
        from: foldLabel(label.from),
        to: foldLabel(label.to),
        approvedLabel: foldLabel(approvedLabel),
        deletedLabel: foldLabel(deletedLabel),
      });
  }
  // A deleted issue keeps its row until a full crawl misses it, so that a deletion that names it
  // ends with the truth about that issue instead of UNMATCHED. Readers are told at once.
  if (event.kind !== 'issue') return;
  if (event.isGone && !event.isMoved) inbox.hide(event.issue.number);
  else inbox.take(event.issue, { isMoved: event.isMoved === true });
}
