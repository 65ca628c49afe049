import { z } from 'zod';
import type { RemovalListQuery } from '#leads/reading/list-removals.ts';
import { paginationOut } from '#shared/page.ts';
import { leadListParameters } from '../leads/schema.ts';

/** A lead that is not there any more. */
const removalOut = z
  .object({
    id: z.string().describe('The issue number as text.'),
    removedAt: z.string().meta({ format: 'date-time' }),
  })
  .meta({ id: 'Removal', description: 'A lead that a deletion took away.' });

export const removalListOut = z
  .object({ items: z.array(removalOut).readonly(), pagination: paginationOut })
  .meta({ id: 'RemovalList' });

/** The query of the removals. */
export const removalListQuery = leadListParameters
  .pick({ limit: true, cursor: true, since: true })
  .transform(({ limit, since, cursor }): RemovalListQuery => ({
    limit,
    ...(since !== undefined && { since }),
    ...(cursor !== undefined && { cursor }),
  }));
