import { z } from 'zod';
import { toRfc3339 } from '#shared/clock.ts';
import { codesOf } from '#shared/outcomes/entry.ts';
import { eventReasons, eventNotes } from '#shared/outcomes/events.ts';
import { instantOut } from '#shared/instant-out.ts';
import {
  toldErasure,
  erasures,
  nameKinds,
  type Outcome,
  outcomes,
  type PartnerPath,
  type Receipt,
  type ReceiptDetail,
  type ReceiptEventDetail,
  receiptStatuses,
  remainders,
  type ReceiptSummary,
  stepKinds,
  whyOf,
} from './receipt.ts';

/** A receipt as every interface shows it: the response to a delivery. */
export const receiptOut = z
  .object({
    id: z.uuid(),
    partnerId: z.string(),
    eventType: z.string().describe('The event’s own; `batch` when a delivery holds several kinds.'),
    externalId: z.string().optional().describe('Left out for a batch of several events.'),
    correlationId: z.string(),
    status: z.enum(receiptStatuses),
    receivedAt: z.iso.datetime(),
  })
  .meta({
    id: 'Receipt',
    description: 'The record of one accepted delivery.',
    examples: [
      {
        id: '7b6c1f1e-3c9d-4f0a-9a53-0d6f6f1c8a11',
        partnerId: 'crm-two',
        eventType: 'contact.deletion',
        externalId: '1246965',
        correlationId: '0b9f6a52-7f7e-4f0c-8f36-5d0f6c1a2b3c',
        status: 'ACCEPTED',
        receivedAt: '2026-09-21T12:00:00Z',
      },
    ],
  });

const describeCodes = (table: Readonly<Record<string, { meaning: string }>>): string =>
  Object.entries(table)
    .map(([code, { meaning }]) => `\`${code}\`: ${meaning}.`)
    .join(' ');

/** Of an event, beside its outcome. */
export const noteOut = z.enum(codesOf(eventNotes));

const eventStepOut = z
  .object({
    at: instantOut,
    what: z
      .enum(stepKinds)
      .describe(
        '`missed`: a look found nobody. `failed`: an attempt. `ended`: how it had ended before it was worked again. `repeated`: the partner sent it again. `late-lead`: the tracker showed a lead of the person late.',
      ),
    outcome: z.enum(outcomes).optional().describe('How it had ended.'),
    code: z.string().optional().describe('Why; as `lastError`.'),
    by: z.string().optional().describe('Who replayed, released or acknowledged it.'),
    leadId: z.string().optional().describe('Which lead was released.'),
  })
  .meta({ id: 'ReceiptEventStep', description: 'One thing that happened to an event.' });

/** Left out where nothing is known to remain. */
export const remainsOut = z
  .array(z.enum(remainders))
  .readonly()
  .describe(
    'Of a deletion: what there is on the issues that no action reached, when the last was done. `text`: title and body. `history`: earlier texts, in the edit history. `comments`: all but that of this deletion, so those that people and rules for events wrote. `fields`: texts, numbers and dates in typed fields. `sub-issues`: issues below them.',
  );

/** State of an event, and what that leaves of a person. */
export const outcomeFields = {
  outcome: z.enum(outcomes),
  erasure: z
    .enum(erasures)
    .optional()
    .describe('How complete the strongest action that succeeded has erased the data.'),
  remains: remainsOut.optional(),
};

const receiptEventOut = z
  .object({
    eventType: z.string().optional().describe('As it was sent.'),
    eventId: z.string().optional(),
    externalId: z.string().optional(),
    ...outcomeFields,
    note: noteOut.optional().describe(describeCodes(eventNotes)),
    names: z
      .array(z.enum(nameKinds))
      .readonly()
      .describe('By what it looks for its lead, in this order; empty where that is not known.'),
    leadIds: z.array(z.string()).readonly(),
    attempts: z.int().describe('Tries so far, the one that succeeded among them.'),
    lastError: z
      .string()
      .optional()
      .describe(
        `Why it ended so, or why its last attempt failed. ${describeCodes(eventReasons)} More may come.`,
      ),
    completedAt: instantOut.optional(),
    acknowledgedAt: instantOut
      .optional()
      .describe('When an operator acknowledged that it came to nothing.'),
    history: z.array(eventStepOut).readonly().describe('Oldest first; the newest 50.'),
  })
  .meta({ id: 'ReceiptEvent', description: 'What became of one event of a delivery.' });

/** Events of a batch that came before; left out where none did. */
export const repeatsOut = z
  .array(
    z.object({
      position: z.int().min(0).describe('In the delivery, from 0.'),
      receiptId: z.uuid().describe('Of the receipt that has the event.'),
    }),
  )
  .readonly()
  .describe('Events of the delivery that came before, and have no place among these.');

/** A receipt with what became of each event. */
export const receiptDetailOut = receiptOut
  .extend({ events: z.array(receiptEventOut).readonly(), repeats: repeatsOut.optional() })
  .meta({ id: 'ReceiptDetail', description: 'A receipt with its events.' });

const count = z.int().min(1).optional();

/** A receipt in a list. */
export const receiptSummaryOut = receiptOut
  .extend({
    outcomes: z
      .object({
        PENDING: count,
        DONE: count,
        UNMATCHED: count,
        IGNORED: count,
        REJECTED: count,
        FAILED: count,
      } satisfies Record<Outcome, typeof count>)
      .describe('How many of its events have each outcome; those that none has are left out.'),
  })
  .meta({ id: 'ReceiptSummary', description: 'A receipt with the outcomes of its events.' });

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

/** Result of a replay. */
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

export type ReceiptOut = z.infer<typeof receiptOut>;
export type ReceiptSummaryOut = z.infer<typeof receiptSummaryOut>;
export type ReceiptDetailOut = z.infer<typeof receiptDetailOut>;
export type NotQueuedReason = keyof z.infer<typeof notQueuedOut>;
export type Replayed = z.infer<typeof replayedOut>;

export function toReceiptOut(receipt: Receipt): ReceiptOut {
  const { id, partnerId, eventType, externalId, correlationId, status, receivedAt } = receipt;
  return {
    id,
    partnerId,
    eventType,
    externalId,
    correlationId,
    status,
    receivedAt: toRfc3339(receivedAt),
  };
}

export function toReceiptSummaryOut(receipt: ReceiptSummary): ReceiptSummaryOut {
  return { ...toReceiptOut(receipt), outcomes: receipt.outcomes };
}

export function toReceiptDetailOut(receipt: ReceiptDetail): ReceiptDetailOut {
  const { events, path, repeats } = receipt;
  return {
    ...toReceiptOut(receipt),
    events: events.map((event) => toEventOut(path, event)),
    ...(repeats && { repeats }),
  };
}

function toEventOut(
  path: PartnerPath,
  event: ReceiptEventDetail,
): ReceiptDetailOut['events'][number] {
  const {
    position: _position,
    dueAt: _dueAt,
    isReplayable: _kept,
    isProvisional: _now,
    ...shown
  } = event;
  const { completedAt, acknowledgedAt, history, erasure: _e, remains: _r, ...same } = shown;
  return {
    ...same,
    ...toldErasure(event),
    lastError: whyOf(path, event),
    ...(completedAt !== undefined && { completedAt: toRfc3339(completedAt) }),
    ...(acknowledgedAt !== undefined && { acknowledgedAt: toRfc3339(acknowledgedAt) }),
    history: history.map(({ effect: _effect, ...step }) => ({ ...step, at: toRfc3339(step.at) })),
  };
}
