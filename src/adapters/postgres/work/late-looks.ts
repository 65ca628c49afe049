import { readProgress } from '#partners/deletions/deletion-progress.ts';
import type { ActProgress, LeadProgress } from '#partners/deletions/deletion-progress.ts';
import type { LateLook, LateLookStore } from '#partners/deletions/match/late-look-store.ts';
import type { Erasure, Outcome } from '#partners/receipts/receipt.ts';
import type { Stage } from '#partners/worker/work-store.ts';
import { confirmClaims, numbersOf, toLeadIds } from '../claims/claim-leads.ts';
import { REFRESH_RECEIPT_STATUS } from '../receipt/status.ts';
import { held } from './matches.ts';
import type { MatchRuntime } from './matches.ts';
import * as sql from './statements.ts';

/** Looking again for leads that the tracker showed late, in PostgreSQL. */
export function createLateLooks(
  { session }: Pick<MatchRuntime, 'session'>,
  together: <T>(write: (runtime: MatchRuntime) => Promise<T>) => Promise<T>,
): LateLookStore {
  return {
    dueLooks: (now, limit) => session.all<LateLook>(sql.DUE_LOOKS, { now, limit }),
    nextLookAt: async () => (await session.get<{ dueAt: number }>(sql.NEXT_LOOK_AT))?.dueAt,
    lookAgain: (...look) => together((runtime) => lookAgain(runtime, ...look)),
  };
}

type EventState = {
  outcome: Outcome;
  stage: Stage;
  progress: string | null;
  erasure: Erasure | null;
  leadIds: string[];
  receipt: number;
};

async function lookAgain(
  runtime: MatchRuntime,
  ...[look, { now, retryAt, nextAt }]: Parameters<LateLookStore['lookAgain']>
): Promise<readonly number[]> {
  const { session } = runtime;
  const { event } = look;
  const state = await session.get<EventState>(sql.STATE, { event });
  if (!state) return [];
  if (state.outcome === 'PENDING' && state.stage === 'match') {
    await session.run(sql.PUT_OFF_LOOK, { event, dueAt: retryAt });
    return [];
  }
  const late = (await isStillWanted(runtime, event))
    ? numbersOf(await session.all(sql.LATE_LEADS, { event }))
    : [];
  if (late.length > 0) await open(runtime, { ...look, now }, state, late);
  if (nextAt === undefined) await session.run(sql.FORGET_LOOK, { event });
  else await session.run(sql.PUT_OFF_LOOK, { event, dueAt: nextAt });
  return late;
}

/**
 * Not when an operator gave every lead of the event back, for then the person was wrong, nor for a
 * repository that the configured name does not mean any more.
 */
async function isStillWanted(runtime: MatchRuntime, event: number): Promise<boolean> {
  return (await held(runtime, event)).length > 0;
}

async function open(
  runtime: MatchRuntime,
  { event, receiptId, now }: { event: number; receiptId: string; now: number },
  state: EventState,
  late: readonly number[],
): Promise<void> {
  const { session } = runtime;
  type LookRow = { repositoryId: number; actions: ActProgress['actions'] };
  const look = await session.get<LookRow>(sql.LOOK, { event });
  if (!look) return;
  const { repositoryId, actions } = look;
  const before = leadsBefore(state, await held(runtime, event));
  await confirmClaims(session, { repositoryId, receiptId, event, numbers: late }, now);
  const progress: ActProgress = {
    stage: 'act',
    actions,
    leads: [...before, ...late.map((number) => ({ number, state: 'open' as const }))],
  };
  const leadIds = new Set([...state.leadIds.map(Number), ...late]);
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
  const progress = readProgress(state.progress);
  if (progress?.stage === 'act') return progress.leads;
  const { outcome, erasure } = state;
  return numbers.map((number) =>
    outcome === 'DONE'
      ? { number, state: 'done', ...(erasure !== null && { erasure }) }
      : { number, state: 'open' },
  );
}
