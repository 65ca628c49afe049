import { z } from 'zod';
import type { AuditEntry, Origin } from '#shared/audit.ts';
import { type Clock, toRfc3339 } from '#shared/clock.ts';
import { refuseReceipt } from './read-receipts.ts';
import { type Outcome, outcomes } from './receipt.ts';
import type { ReceiptFilter, ReceiptStore, ReplayResult } from './receipt-store.ts';

export type ReplayDeps = {
  store: Pick<ReceiptStore, 'replay' | 'replayAll'>;
  clock: Pick<Clock, 'now'>;
  /** Called when events wait because of the replay. */
  wakeWorker: () => void;
};

/** Why an event was not queued. A payload is dropped 30 days after the event ended. */
const notQueuedOut = z
  .object({
    pending: z.int().optional().describe('They wait already, or are worked on.'),
    done: z.int().optional(),
    ignored: z.int().optional(),
    rejected: z.int().optional(),
    payloadDropped: z
      .int()
      .optional()
      .describe(
        'They ended `UNMATCHED` or `FAILED` more than 30 days ago: the partner sends again.',
      ),
  })
  .meta({ id: 'NotQueued', description: 'How many events were left as they are, by reason.' });

/** What a replay did. */
export const replayedOut = z
  .object({
    queued: z.int().describe('How many events wait for the worker because of this.'),
    notQueued: notQueuedOut
      .optional()
      .describe(
        'There when events were left as they are. Of many receipts: `payloadDropped` only.',
      ),
  })
  .meta({ id: 'Replayed', examples: [{ queued: 1, notQueued: { done: 2 } }] });

export type NotQueuedReason = keyof z.infer<typeof notQueuedOut>;
export type Replayed = z.infer<typeof replayedOut>;

const reasons: Record<Outcome, NotQueuedReason> = {
  PENDING: 'pending',
  DONE: 'done',
  IGNORED: 'ignored',
  REJECTED: 'rejected',
  UNMATCHED: 'payloadDropped',
  FAILED: 'payloadDropped',
};

/**
 * Has the events of one receipt that ended UNMATCHED or FAILED worked again, from the start.
 * @throws {not-found} @throws {store-unavailable}
 */
export async function replayReceipt(
  { store, clock, wakeWorker }: ReplayDeps,
  id: string,
  origin: Origin,
): Promise<Replayed> {
  const entry: AuditEntry = {
    ...origin,
    at: clock.now(),
    action: 'receipt.replay',
    subject: `receipt/${id}`,
  };
  const result = (await store.replay(id, entry)) ?? refuseReceipt();
  if (result.queued > 0) wakeWorker();
  return toReplayed(result);
}

/**
 * The same for every receipt that the filter finds; of what is not queued, only lost payloads are
 * counted. @throws {store-unavailable}
 */
export async function replayReceipts(
  { store, clock, wakeWorker }: ReplayDeps,
  filter: ReceiptFilter,
  origin: Origin,
): Promise<Replayed> {
  const result = await store.replayAll(filter, {
    ...origin,
    at: clock.now(),
    action: 'receipt.replay',
    subject: 'receipts',
    changes: describeFilter(filter),
  });
  if (result.queued > 0) wakeWorker();
  return toReplayed(result);
}

/** Which filters were used. Identifiers are left out: what a partner calls a person may be one. */
function describeFilter(filter: ReceiptFilter): Record<string, unknown> {
  const { partnerId, status, outcome, since, before } = filter;
  const values = {
    partnerId,
    status,
    outcome,
    ...(since !== undefined && { since: toRfc3339(since) }),
    ...(before !== undefined && { before: toRfc3339(before) }),
  };
  const given = (fields: object) =>
    Object.entries(fields).filter(([, value]) => value !== undefined);
  return {
    filters: given(filter).map(([name]) => name),
    ...Object.fromEntries(given(values)),
  };
}

function toReplayed({ queued, left }: ReplayResult): Replayed {
  const notQueued: Partial<Record<NotQueuedReason, number>> = {};
  for (const outcome of outcomes) {
    const reason = reasons[outcome];
    const count = left[outcome] ?? 0;
    if (count > 0) notQueued[reason] = (notQueued[reason] ?? 0) + count;
  }
  return Object.keys(notQueued).length === 0 ? { queued } : { queued, notQueued };
}
