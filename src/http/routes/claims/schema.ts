import { z } from 'zod';
import { paginationOut } from '#shared/page.ts';
import { pageParameters } from '../../requests/parameters.ts';

export const claimListQuery = z.strictObject(pageParameters);

export const claimOut = z
  .object({
    leadId: z.string(),
    claimedAt: z
      .string()
      .meta({ format: 'date-time' })
      .describe('When the first of its claims took it out of sight.'),
    receiptIds: z
      .array(z.string())
      .readonly()
      .describe('The receipts whose events claim it, the first first.'),
  })
  .meta({ id: 'Claim', description: 'A lead that no reader sees, because of a deletion.' });

export const claimListOut = z
  .object({ items: z.array(claimOut), pagination: paginationOut })
  .meta({ id: 'ClaimList' });
