import type { ClaimStore } from '#leads/claims/claim-store.ts';
import { createNextTurnFlight } from '#shared/resilience/single-flight.ts';
import { bindInTurn, type StoreDatabase } from '../session.ts';
import { createClaimLists } from './lists.ts';
import { createClaimReader } from './view.ts';
import { claimWrites } from './writes.ts';

export type ClaimsOptions = {
  /** `owner/name`, in any case. */
  repository: string;
};

/** The claims, whatever the engine. Keeps the claimed numbers in memory and reads only what changed. */
export function createClaimStore(database: StoreDatabase, options: ClaimsOptions): ClaimStore {
  const repository = options.repository.toLowerCase();
  const { release } = bindInTurn(database, 'claim', claimWrites);
  return {
    current: createNextTurnFlight(createClaimReader(database, repository)),
    ...createClaimLists(database, repository),
    release: (number, entry) => release(repository, number, entry),
  };
}
