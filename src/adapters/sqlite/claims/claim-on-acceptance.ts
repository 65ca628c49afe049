import { leadsToClaim } from '#partners/deletions/match/match.ts';
import type { MatchName } from '#partners/deletions/match/match.ts';
import { REPOSITORY_NOT_KNOWN } from '#leads/claims/claim-order.ts';
import { createClaimWriter } from './claim-leads.ts';
import type { Connection } from '../connection/connection.ts';
import { createDirectoryView } from '../directory/view.ts';

/** An event that is accepted, or that has come again. */
type AcceptedEvent = {
  /** `event.id`. */
  event: number;
  receiptId: string;
};

/** Claims of the transaction that accepts an event, until the worker knows better. */
export type AcceptanceClaims = {
  /** The leads to claim, in ascending order. */
  find(names: readonly MatchName[]): number[];
  claim(owner: AcceptedEvent, numbers: readonly number[], at: number): void;
  /** What the event holds; an operator may have given leads of it back. */
  held(owner: AcceptedEvent): number[];
};

/** `repository` is `owner/name`, in any case. Every call throws `store-unavailable`. */
export function createAcceptanceClaims(
  connection: Connection,
  repository: string,
): AcceptanceClaims {
  const directory = createDirectoryView(connection, repository);
  const claims = createClaimWriter(connection);
  const findRepository = connection.handle
    .prepare<[string], number>('SELECT repositoryId FROM tracker_repository WHERE name = ?')
    .pluck();
  const repositoryId = (): number =>
    findRepository.get(repository.toLowerCase()) ?? REPOSITORY_NOT_KNOWN;
  return {
    find: (names) => leadsToClaim(names, directory).sort((left, right) => left - right),
    claim: (owner, numbers, at) => {
      if (numbers.length > 0) claims.claim({ ...owner, repositoryId: repositoryId(), numbers }, at);
    },
    held: ({ event }) => claims.held(repositoryId(), event),
  };
}
