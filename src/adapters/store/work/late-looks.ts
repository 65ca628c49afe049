import type {
  ActProgress,
  DeletionProgress,
  LeadProgress,
} from '#partners/deletions/deletion-progress.ts';
import type { LateLookStore } from '#partners/deletions/match/late-look-store.ts';
import type { Erasure, Outcome } from '#partners/receipts/receipt.ts';
import type { Stage } from '#partners/worker/work-store.ts';
import { confirmClaims, numbersOf, toLeadIds } from '../claim/claim-leads.ts';
import { REFRESH_RECEIPT_STATUS } from '../receipt/status.ts';
import type { Session } from '../session.ts';
import { held } from './matches.ts';
import * as sql from './statements.ts';

type EventState = {
  outcome: Outcome;
  stage: Stage;
  progress: string | null;
  erasure: Erasure | null;
  leadIds: string;
  receipt: number;
};

/** `LateLookStore.lookAgain`. */
export async function lookAgain(
  session: Session,
  repository: string,
  ...[look, { now, retryAt, nextAt }]: Parameters<LateLookStore['lookAgain']>
): Promise<readonly number[]> {
  const { event, receiptId } = look;
  const state = await session.get<EventState>(sql.STATE, { event });
  if (!state) return [];
  if (state.outcome === 'PENDING' && state.stage === 'match') {
    await session.run(sql.PUT_OFF_LOOK, { event, dueAt: retryAt });
    return [];
  }
  const numbers = await held(session, repository, event);
  // Not when an operator gave every lead of the event back, for then the person was wrong, nor for a
  // repository that the configured name does not mean any more.
  const late = numbers.length > 0 ? numbersOf(await session.all(sql.LATE_LEADS, { event })) : [];
  if (late.length > 0) await open(session, { event, receiptId, now, numbers, late }, state);
  if (nextAt === undefined) await session.run(sql.FORGET_LOOK, { event });
  else await session.run(sql.PUT_OFF_LOOK, { event, dueAt: nextAt });
  return late;
}

type Opening = {
  event: number;
  receiptId: string;
  now: number;
  /** What the event holds. */
  numbers: readonly number[];
  late: readonly number[];
};

async function open(
  session: Session,
  { event, receiptId, now, numbers, late }: Opening,
  state: EventState,
): Promise<void> {
  const look = await session.get<{ repositoryId: number; actions: string }>(sql.LOOK, { event });
  if (!look) return;
  const { repositoryId } = look;
  await confirmClaims(session, { repositoryId, receiptId, event, numbers: late }, now);
  const progress: ActProgress = {
    stage: 'act',
    actions: JSON.parse(look.actions) as ActProgress['actions'],
    leads: [
      ...leadsBefore(state, numbers),
      ...late.map((number) => ({ number, state: 'open' as const })),
    ],
  };
  const leadIds = new Set([...(JSON.parse(state.leadIds) as string[]).map(Number), ...late]);
  await session.run(sql.REOPEN, {
    event,
    progress: JSON.stringify(progress),
    leadIds: toLeadIds([...leadIds].sort((left, right) => left - right)),
    now,
  });
  await session.run(REFRESH_RECEIPT_STATUS, { receipts: [state.receipt] });
}

/** What was done to the leads before: all of it when the event was DONE, and else it is tried again. */
function leadsBefore(state: EventState, numbers: readonly number[]): readonly LeadProgress[] {
  const { outcome, erasure, progress } = state;
  const leads = progress === null ? undefined : leadsIn(JSON.parse(progress) as DeletionProgress);
  if (leads) return leads;
  return numbers.map((number) =>
    outcome === 'DONE'
      ? { number, state: 'done', ...(erasure !== null && { erasure }) }
      : { number, state: 'open' },
  );
}

/** Not checked here: whoever leases the event does, and begins anew what another version wrote. */
function leadsIn(progress: DeletionProgress): readonly LeadProgress[] | undefined {
  return progress.stage === 'act' && Array.isArray(progress.leads) ? progress.leads : undefined;
}
