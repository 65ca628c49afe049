import { paginationOut } from '#shared/page.ts';
import { z } from 'zod';
import { parseLeadId } from '#leads/model/identity.ts';
import {
  erasures,
  eventNotes,
  type Outcome,
  outcomes,
  receiptStatuses,
} from '#partners/receipts/receipt.ts';
import type { NotQueuedReason } from '#partners/receipts/replay-receipts.ts';
import { sinceParameter } from '../common-schema.ts';
import { pageParameters } from '../page-schema.ts';
import { receiptOut } from './receipt-schema.ts';

const PARTNER_ID_CHARACTERS_MAX = 63;

const IDENTIFIER_CHARACTERS_MAX = 255;

/** As receipts keep it. */
const identifier = z.string('must be given once').max(IDENTIFIER_CHARACTERS_MAX, 'is too long');

const filters = {
  partnerId: z
    .string('must be given once')
    .max(PARTNER_ID_CHARACTERS_MAX, 'is too long')
    .exactOptional(),
  status: z.enum(receiptStatuses, `must be one of ${receiptStatuses.join(', ')}`).exactOptional(),
  outcome: z
    .enum(outcomes, `must be one of ${outcomes.join(', ')}`)
    .exactOptional()
    .meta({
      description:
        'At least one event of the receipt has it, and the ids of an event that are given beside it.',
    }),
  externalId: identifier.exactOptional(),
  eventId: identifier.exactOptional(),
  correlationId: identifier.exactOptional().meta({ description: 'That of the receipt.' }),
  leadId: z
    .string('must be given once')
    .transform((text, context) => {
      const number = parseLeadId(text);
      if (number !== undefined) return number;
      context.addIssue({ code: 'custom', message: 'must be the number of an issue' });
      return z.NEVER;
    })
    .exactOptional()
    .meta({
      description: 'The number of an issue that an event has matched.',
      pattern: '^#?[1-9][0-9]{0,15}$',
    }),
  since: sinceParameter.exactOptional().meta({ description: 'Received at or after this instant.' }),
};

/** Which receipts a replay is for. */
export const receiptFilterQuery = z.strictObject(filters);

export const receiptListQuery = z.strictObject({ ...pageParameters, ...filters });

export const receiptParams = z.object({
  id: z.string().meta({ description: 'The receipt’s id.', format: 'uuid' }),
});

const dateTime = z.string().meta({ format: 'date-time' });

const receiptEventOut = z
  .object({
    eventType: z.string().optional().describe('As it was sent.'),
    eventId: z.string().optional(),
    externalId: z.string().optional(),
    outcome: z.enum(outcomes),
    erasure: z
      .enum(erasures)
      .optional()
      .describe('How complete the strongest action that succeeded has erased the data.'),
    note: z
      .enum(eventNotes)
      .optional()
      .describe(
        '`event-id-reused`: the event’s id came before with another person. `lead-id-conflict`: the lead that it names belongs to another person, and was left alone. `claim-released`: an operator gave a lead back.',
      ),
    leadIds: z.array(z.string()).readonly(),
    attempts: z.int().describe('Tries so far, the one that succeeded among them.'),
    lastError: z.string().optional().describe('A code, such as `names-nobody`.'),
    completedAt: dateTime.optional(),
  })
  .meta({ id: 'ReceiptEvent', description: 'What became of one event of a delivery.' });

export const receiptDetailOut = receiptOut
  .extend({ events: z.array(receiptEventOut).readonly() })
  .meta({ id: 'ReceiptDetail', description: 'A receipt with its events.' });

const count = z.int().min(1).optional();

const receiptSummaryOut = receiptOut
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

export const receiptListOut = z
  .object({ items: z.array(receiptSummaryOut).readonly(), pagination: paginationOut })
  .meta({ id: 'ReceiptList' });

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
  } satisfies Record<NotQueuedReason, z.ZodType>)
  .meta({ id: 'NotQueued', description: 'How many events were left as they are, by reason.' });

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
