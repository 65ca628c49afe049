import { paginationOut } from '#shared/pagination/page.ts';
import { z } from 'zod';
import { parseLeadId } from '#leads/model/identity.ts';
import { outcomes, receiptStatuses } from '#partners/receipts/receipt.ts';
import { receiptSummaryOut } from '#partners/receipts/receipt-out.ts';
import { pageParameters, sinceParameter } from '../../requests/parameters.ts';

const PARTNER_ID_CHARACTERS_MAX = 63;

const IDENTIFIER_CHARACTERS_MAX = 255;

/** As receipts store it. */
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

export const receiptListOut = z
  .object({ items: z.array(receiptSummaryOut).readonly(), pagination: paginationOut })
  .meta({ id: 'ReceiptList' });
