import { leadsToClaim, type MatchName } from '#partners/match.ts';
import { REPOSITORY_NOT_KNOWN } from '#leads/claims/claim-store.ts';
import { readDirectoryView } from '../directory/view.ts';
import { readRepositoryId } from '../directory/repository.ts';
import type { Session } from '../session.ts';
import { claimsOf, claimedBy, insertClaims } from './claim-leads.ts';

/** An event that is accepted, or that has come again. */
type AcceptedEvent = {
  /** `event.id`. */
  event: number;
  receiptId: string;
  /** The leads to claim, in ascending order. */
  leads: readonly number[];
  at: number;
};

/** Claims of the transaction that accepts events, until the worker knows better. */
export type AcceptanceClaims = {
  /** The leads to claim by what an event names, in ascending order. */
  find(names: readonly MatchName[]): number[];
  claim(events: readonly AcceptedEvent[]): Promise<void>;
  /** What the event holds; an operator may have given leads of it back. */
  claimedBy(event: number): Promise<number[]>;
};

/** Reads what the lead directory knows of all that these events name. `repository` is in lower case. */
export async function openAcceptanceClaims(
  session: Session,
  repository: string,
  names: readonly MatchName[],
): Promise<AcceptanceClaims> {
  const [directory, repositoryId = REPOSITORY_NOT_KNOWN] = await Promise.all([
    readDirectoryView(session, repository, names),
    readRepositoryId(session, repository),
  ]);
  return {
    find: (own) => leadsToClaim(own, directory).sort((left, right) => left - right),
    claim: (events) =>
      insertClaims(
        session,
        events.flatMap(({ event, receiptId, leads, at }) =>
          claimsOf({ event, receiptId, repositoryId, numbers: leads }, at),
        ),
      ),
    claimedBy: (event) => claimedBy(session, { repositoryId, event }),
  };
}
