import type { KeyObject } from 'node:crypto';
import { toHashedIdentity } from '#leads/directory/lead-directory.ts';
import { MINUTE } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import { actionsFor, type Name, namesOf, type PartnerEvent, ruleFor } from '../../event.ts';
import type { ReadDelivery } from '../../intake/read-delivery.ts';
import type { Partner, PartnerList } from '../../partner.ts';
import type { EventErrorCode } from '../../receipts/receipt.ts';
import { effectOf } from '../act/issue-edit.ts';
import type { WorkItem } from '../work-store.ts';
import type { MatchProgress, Todo } from '../progress.ts';
import type { MatchName } from '../../match.ts';

export type ReadRequestDeps = {
  /** The sub-key for directory hashes. */
  directoryKey: Buffer;
  partners: Pick<PartnerList, 'all'>;
  readDelivery: ReadDelivery;
};

/** What an event asks for. */
export type EventRequest = { names: readonly MatchName[]; todo: Todo };

/** A text is the code of why the event cannot be read; undefined: no rule is for it any more. */
export async function readRequest(
  { directoryKey, partners, readDelivery }: ReadRequestDeps,
  item: WorkItem,
): Promise<EventRequest | EventErrorCode | undefined> {
  const partner = partners.all().find(({ id }) => id === item.partnerId);
  if (!partner) return 'partner-unknown';
  if (!item.payload) return 'payload-unreadable';
  try {
    const [read] = await readDelivery(item.payload, partner.fields);
    if (!read?.event) return 'payload-unreadable';
    const todo = todoFor(partner, item, read.event);
    const names = toMatchNames(namesOf(partner.id, read.event), directoryKey);
    return todo && { names, todo };
  } catch (error) {
    if (isTrackportError(error, 'malformed-json')) return 'payload-unreadable';
    throw error;
  }
}

/** The names with keyed hashes in place of personal data, in the same order. */
export function toMatchNames(
  names: readonly Name[],
  directoryKey: Buffer | KeyObject,
): MatchName[] {
  return names.map((name) =>
    name.kind === 'lead-id' ? name : toHashedIdentity(directoryKey, name),
  );
}

function todoFor(partner: Partner, item: WorkItem, event: PartnerEvent): Todo | undefined {
  if (item.path === 'deletions') return { actions: actionsFor(partner, event) };
  const rule = ruleFor(partner, event);
  return rule && { actions: [], effect: effectOf(rule, event, item) };
}

/** How far the tracker's clock may be ahead of ours. A lead that is no older is taken as older. */
export const CLOCK_TOLERANCE_MS = MINUTE;

/**
 * What is known of the event's match. A clock that was set back leaves instants in the future, which
 * no catch-up would ever reach.
 */
export function progressOf({ dueAt, progress }: WorkItem, now: number): MatchProgress {
  if (progress?.stage === 'match') {
    const { askedAt, missedSince, requestedAt } = progress;
    return {
      ...progress,
      askedAt: Math.min(now, askedAt),
      ...(requestedAt !== undefined && { requestedAt: Math.min(now, requestedAt) }),
      ...(missedSince !== undefined && { missedSince: Math.min(now, missedSince) }),
    };
  }
  const askedAt = Math.min(now, dueAt);
  return { stage: 'match', askedAt, requestedAt: askedAt, misses: 0 };
}

/**
 * The latest instant at which a lead was created that the event can mean by its number, in ms. Within
 * the tolerance every lead is old enough, whatever the clocks say.
 */
export function createdBeforeOf(progress: MatchProgress, now: number): number {
  const { requestedAt = progress.missedSince ?? progress.askedAt } = progress;
  const latest = requestedAt + CLOCK_TOLERANCE_MS;
  return now <= latest ? Infinity : latest;
}
