import { z } from 'zod';
import { erasures, outcomes, receiptStatuses } from '#partners/receipts/receipt.ts';

export const receiptStatusParams = z.object({
  // Told, not checked: whatever is no token gets one and the same 404.
  token: z.string().meta({
    description: 'As in the `Location` of the answer to a delivery.',
    maxLength: 256,
  }),
});

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
