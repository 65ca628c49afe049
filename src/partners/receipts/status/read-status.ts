import { z } from 'zod';
import { type Clock, SECOND, toRfc3339 } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { erasures, outcomes, type ReceiptEventDetail, receiptStatuses } from '../receipt.ts';
import type { ReceiptStore } from '../receipt-store.ts';
import type { StatusTokens } from './status-token.ts';

const RETRY_AFTER_SECONDS_MIN = 1;
const RETRY_AFTER_SECONDS_MAX = 3600;

export type ReadStatusDeps = {
  store: Pick<ReceiptStore, 'read'>;
  tokens: Pick<StatusTokens, 'open'>;
  clock: Pick<Clock, 'now'>;
};

/** What became of a delivery, as whoever has its status address may know it. */
export const receiptStatusOut = z
  .object({
    id: z.uuid().describe('The receipt’s.'),
    status: z.enum(receiptStatuses),
    events: z
      .array(
        z.object({
          position: z.int().min(0).describe('In the delivery, from 0; repeats leave gaps.'),
          eventType: z.string().optional().describe('As it was sent.'),
          eventId: z.string().optional(),
          outcome: z.enum(outcomes),
          erasure: z
            .enum(erasures)
            .optional()
            .describe('How complete the strongest action that succeeded has erased the data.'),
          completedAt: z.iso.datetime().optional(),
        }),
      )
      .readonly(),
  })
  .meta({ id: 'ReceiptStatus', description: 'What became of a delivery.' });

type StatusEvent = z.infer<typeof receiptStatusOut>['events'][number];

export type StatusResponse = {
  status: z.infer<typeof receiptStatusOut>;
  /** There while work is under way: when it makes sense to ask again. */
  retryAfterSeconds?: number;
};

/**
 * What became of the delivery behind a status address. Every token that is of no use gets the same
 * response, and no look-up. @throws {not-found} @throws {store-unavailable}
 */
export async function readStatus(
  { store, tokens, clock }: ReadStatusDeps,
  token: string,
): Promise<StatusResponse> {
  const id = tokens.open(token);
  const report = id === undefined ? undefined : await store.read(id);
  if (!report)
    throw new TrackportError('not-found', {
      detail: 'This is no status address, or it is more than 30 days old.',
    });
  const { events } = report;
  const status = { id: report.id, status: report.status, events: events.map(toStatusEvent) };
  const due = events.flatMap(({ dueAt }) => dueAt ?? []);
  if (due.length === 0) return { status };
  return { status, retryAfterSeconds: secondsUntil(Math.min(...due) - clock.now()) };
}

/** Without personal data, and without issue numbers. */
function toStatusEvent(event: ReceiptEventDetail): StatusEvent {
  const { position, eventType, eventId, outcome, erasure, completedAt } = event;
  return {
    position,
    eventType,
    eventId,
    outcome,
    erasure,
    ...(completedAt !== undefined && { completedAt: toRfc3339(completedAt) }),
  };
}

function secondsUntil(ms: number): number {
  const seconds = Math.ceil(ms / SECOND) + 1; // what is due takes a moment
  return Math.min(RETRY_AFTER_SECONDS_MAX, Math.max(RETRY_AFTER_SECONDS_MIN, seconds));
}
