import type { Clock } from '#shared/clock.ts';
import type { Database } from '#shared/database.ts';
import type { ClaimLearnt } from './claims/deletion-names.ts';

/** The store, with what all statements about leads have in common. */
export type LeadStore = {
  db: Database;
  /** `owner/name` of the tracker's repository, in lower case. */
  repository: string;
  clock: Pick<Clock, 'now'>;
  claimLearnt: ClaimLearnt;
};
