import { isTrackportError } from '#shared/errors.ts';
import { actionsFor, namesOf, type PartnerEvent, ruleFor } from '../../event.ts';
import type { ReadDelivery } from '../../read-delivery.ts';
import type { Partner, PartnerList } from '../../partner.ts';
import type { EventErrorCode } from '../../receipts/receipt.ts';
import { effectOf } from '../act/issue-edit.ts';
import type { WorkItem } from '../work-item.ts';
import type { MatchProgress, Todo } from '../progress.ts';
import { type MatchName, toMatchNames } from '#leads/directory/match.ts';

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

function todoFor(partner: Partner, item: WorkItem, event: PartnerEvent): Todo | undefined {
  if (item.path === 'deletions') return { actions: actionsFor(partner, event) };
  const rule = ruleFor(partner, event);
  return rule && { actions: [], effect: effectOf(rule, event, item) };
}

/**
 * What is known of the event's match. A clock that was set back leaves instants in the future, which
 * no catch-up would ever reach.
 */
export function progressOf({ dueAt, progress }: WorkItem, now: number): MatchProgress {
  if (progress?.stage === 'match') {
    const { askedAt, missedSince } = progress;
    return {
      ...progress,
      askedAt: Math.min(now, askedAt),
      ...(missedSince !== undefined && { missedSince: Math.min(now, missedSince) }),
    };
  }
  return { stage: 'match', askedAt: Math.min(now, dueAt), misses: 0 };
}
