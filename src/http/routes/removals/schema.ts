import type { RemovalListQuery } from '#leads/reading/list-removals.ts';
import { leadListParameters } from '../leads/schema.ts';

/** The query of the removals. */
export const removalListQuery = leadListParameters
  .pick({ limit: true, cursor: true, since: true })
  .transform(({ limit, since, cursor }): RemovalListQuery => ({
    limit,
    ...(since !== undefined && { since }),
    ...(cursor !== undefined && { cursor }),
  }));
