/** Leads that events name, and their claims for those that are deletions: of new events and of repeats alike. */
import { claimsOf, insertClaims } from '#leads/claims/claim-leads.ts';
import {
  type DirectoryView,
  type EventTimes,
  leadsToClaim,
  type MatchName,
} from '#leads/directory/match.ts';
import type { Sealer } from '#shared/crypto/sealer.ts';
import type { Tx } from '#shared/database.ts';
import type { NewEvent, NewReceipt } from './accept-delivery.ts';

/** Transaction that writes deliveries, and what is known in it. */
export type Writing = {
  tx: Tx;
  /** Encrypts the bytes of events until they are settled; see `payloadIdentity`. */
  sealer: Sealer;
  /** Everything that the lead directory knows of what these events name. */
  directory: DirectoryView;
  /** Its leads are claimed. */
  repositoryId: number;
};

/**
 * An event that was brought in by hand counts from when it happened, which is not ahead of its delivery. One that came
 * before knew no number that was given later.
 */
export function timesOf(
  event: NewEvent,
  receipt: NewReceipt,
  before: { receivedAt: number } = receipt,
): EventTimes {
  const createdBefore = Math.min(event.createdBefore ?? Infinity, receipt.createdBefore);
  return { createdBefore, receivedAt: before.receivedAt };
}

/** The leads to claim by what an event names, in ascending order. */
export function leadsNamed(
  directory: DirectoryView,
  { names }: NewEvent,
  times: EventTimes,
): number[] {
  return leadsToClaim(names, directory, times).sort((left, right) => left - right);
}

/** A deletion that is accepted, or that has come again. */
export type AcceptedDeletion = {
  /** `event.id`. */
  event: number;
  receiptId: string;
  names: readonly MatchName[];
  /** The leads to claim, in ascending order. */
  leads: readonly number[];
  at: number;
};

/** Claims what deletions name, until the worker knows better. */
export async function claimNamed(
  tx: Tx,
  { repositoryId, deletions }: { repositoryId: number; deletions: readonly AcceptedDeletion[] },
): Promise<void> {
  const claims = deletions.flatMap(({ event, receiptId, leads, at }) =>
    claimsOf({ event, receiptId, numbers: leads }, at),
  );
  await insertClaims(tx, { repositoryId, claims });
}
