import type {
  ActProgress,
  DeletionProgress,
  LeadProgress,
} from '#partners/deletions/deletion-progress.ts';
import type { LateLookStore } from '#partners/deletions/match/late-look-store.ts';
import { toLeadIds } from '../claims/claim-leads.ts';
import { held } from './matches.ts';
import type { MatchRuntime } from './matches.ts';
import type { WorkStatements } from './statements.ts';

type EventState = NonNullable<ReturnType<WorkStatements['state']['get']>>;

/** `LateLookStore.lookAgain`. */
export function lookAgain(
  runtime: MatchRuntime,
  ...[look, { now, retryAt, nextAt }]: Parameters<LateLookStore['lookAgain']>
): readonly number[] {
  const { sql } = runtime;
  const { event } = look;
  const state = sql.state.get(event);
  if (!state) return [];
  if (state.outcome === 'PENDING' && state.stage === 'match') {
    sql.putOffLook.run({ event, dueAt: retryAt });
    return [];
  }
  const late = isStillWanted(runtime, event) ? sql.lateLeads.all({ event }) : [];
  if (late.length > 0) open(runtime, { ...look, now }, state, late);
  if (nextAt === undefined) sql.forgetLook.run(event);
  else sql.putOffLook.run({ event, dueAt: nextAt });
  return late;
}

/**
 * Not when an operator gave every lead of the event back, for then the person was wrong, nor for a
 * repository that the configured name does not mean any more.
 */
function isStillWanted(runtime: MatchRuntime, event: number): boolean {
  return held(runtime, event).length > 0;
}

function open(
  runtime: MatchRuntime,
  { event, receiptId, now }: { event: number; receiptId: string; now: number },
  state: EventState,
  late: readonly number[],
): void {
  const { sql, claims } = runtime;
  const look = sql.look.get(event);
  if (!look) return;
  const { repositoryId } = look;
  const before = leadsBefore(state, held(runtime, event));
  claims.confirm({ repositoryId, receiptId, event, numbers: late }, now);
  const progress: ActProgress = {
    stage: 'act',
    actions: JSON.parse(look.actions) as ActProgress['actions'],
    leads: [...before, ...late.map((number) => ({ number, state: 'open' as const }))],
  };
  const leadIds = new Set([...readNumbers(state.leadIds), ...late]);
  sql.reopen.run({
    event,
    progress: JSON.stringify(progress),
    leadIds: toLeadIds([...leadIds].sort((left, right) => left - right)),
    now,
  });
  const receipt = sql.receiptOf.get(event);
  if (receipt !== undefined) sql.refreshReceipt.run(receipt);
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

function readNumbers(leadIds: string | null): number[] {
  return leadIds === null ? [] : (JSON.parse(leadIds) as string[]).map(Number);
}
