import { z } from 'zod';
import { toRfc3339 } from '#shared/clock.ts';
import { instantOut } from '#shared/instant-out.ts';
import { paginationOut } from '#shared/pagination/page.ts';
import type { ClaimedLead } from './claim-store.ts';

/** A claimed lead as the command line and the admin API show it. */
export const claimOut = z
  .object({
    leadId: z.string(),
    claimedAt: instantOut.describe('When the first of its claims took it out of sight.'),
    receiptIds: z
      .array(z.string())
      .readonly()
      .describe('The receipts whose events claim it, the first first.'),
  })
  .meta({ id: 'Claim', description: 'A lead that no reader sees, because of a deletion.' });

/** One page of claimed leads. */
export const claimListOut = z
  .object({ items: z.array(claimOut), pagination: paginationOut })
  .meta({ id: 'ClaimList' });

export type ClaimOut = z.infer<typeof claimOut>;
export type ClaimListOut = z.infer<typeof claimListOut>;

export function toClaimOut({ number, claimedAt, receiptIds }: ClaimedLead): ClaimOut {
  return { leadId: String(number), claimedAt: toRfc3339(claimedAt), receiptIds };
}
