/**
 * A deletion stands: whoever the directory learns after it, and was there before, is claimed in the transaction
 * that learns it, by the rule by which a deletion is matched at any other time.
 */
import type { IdentityKind } from '#leads/directory/lead-directory.ts';
import { type ClaimLearnt, type KnownRepository, numbersOf } from '#leads/lead-store.ts';
import {
  type EventTimes,
  latestMeant,
  matchLeads,
  type MatchName,
} from '#leads/directory/match.ts';
import type { Action } from '../partner.ts';
import type { Erasure, Outcome, Remainder } from './receipt.ts';
import type { ActProgress, EventProgress, LeadProgress, Stage } from './event-progress.ts';
import { readDirectoryView } from '#leads/directory/directory-view.ts';
import { REFRESH_RECEIPT_STATUS, WITH_END, withStep } from './event-changes.ts';
import type { Tx } from '#shared/database.ts';
import { toRecords } from '#shared/sql.ts';
import {
  claimedBy,
  claimsOf,
  confirmClaims,
  fromLeadIds,
  insertClaims,
  toLeadIds,
} from '#leads/claims/claim-leads.ts';

const STANDS_HERE = 'deletion_name.repository_id = @id';

/**
 * Not for what they have claimed already: crawls and webhooks meet all of that again. Of an inner join SQLite would
 * read every name that stands, since it knows nothing of how few `known` are.
 */
const NAMING_LEADS = `
  WITH RECURSIVE known (number, hash) AS (
    SELECT number, key_hash FROM directory_key
    WHERE repository_id = @id AND number = ANY(@numbers::bigint[])
      AND EXISTS (SELECT 1 FROM deletion_name)
    UNION SELECT number, to_hash FROM known JOIN directory_merge ON from_hash = known.hash),
  named (event, number, is_lead_id) AS (
    SELECT event, known.number, false FROM known CROSS JOIN deletion_name
    WHERE deletion_name.key_hash = known.hash AND ${STANDS_HERE}
    UNION
    SELECT event, number, true FROM deletion_name WHERE number = ANY(@numbers::bigint[]) AND ${STANDS_HERE})
  SELECT named.event, is_lead_id, created_before, received_at,
    (SELECT created_at FROM directory_lead WHERE repository_id = @id AND number = named.number) AS created_at
  FROM named CROSS JOIN event CROSS JOIN receipt
  WHERE event.id = named.event AND receipt.number = event.receipt
    AND NOT EXISTS (SELECT 1 FROM claim WHERE claim.event = named.event
      AND claim.repository_id = @id AND claim.number = named.number)
  ORDER BY named.event`;

const NAMING_PEOPLE = `
  WITH RECURSIVE known (hash) AS (
    SELECT hash FROM jsonb_to_recordset(@hashes) AS given (hash bytea)
    UNION SELECT to_hash FROM known JOIN directory_merge ON from_hash = known.hash)
  SELECT DISTINCT event FROM known CROSS JOIN deletion_name
  WHERE deletion_name.key_hash = known.hash AND ${STANDS_HERE}
  ORDER BY event`;

export const claimLearnt: ClaimLearnt = async (tx, repository, learnt, now) => {
  const { id } = repository;
  const events =
    'numbers' in learnt
      ? await eventsNaming(tx, { id, numbers: learnt.numbers })
      : await tx.all<{ event: number }>(NAMING_PEOPLE, {
          id,
          hashes: toRecords(learnt.hashes.map((hash) => ({ hash }))),
        });
  for (const event of new Set(events.map((row) => row.event)))
    await claimLate(tx, repository, { event, now });
};

/** Without what came later: of one person there may be many leads and many deletions. */
async function eventsNaming(tx: Tx, learnt: { id: number; numbers: readonly number[] }) {
  type Row = EventTimes & { event: number; isLeadId: boolean; createdAt: number };
  const rows = await tx.all<Row>(NAMING_LEADS, learnt);
  return rows.filter((row) => row.createdAt <= latestMeant(row.isLeadId, row));
}

const STATE = `
  SELECT event.id AS event, outcome, stage, progress, erasure, remains, lead_ids, receipt, actions, created_before,
    receipt.id AS receipt_id, receipt.received_at
  FROM event JOIN receipt ON receipt.number = event.receipt WHERE event.id = @event`;

const NAMES =
  'SELECT kind, key_hash, number FROM deletion_name WHERE event = @event ORDER BY place';

/** Includes leads that an operator released. */
const EVER_CLAIMED = 'SELECT number FROM claim WHERE event = @event AND repository_id = @id';

type EventState = EventTimes & {
  event: number;
  receiptId: string;
  outcome: Outcome;
  stage: Stage;
  progress?: string;
  erasure?: Erasure;
  remains?: string;
  leadIds?: string;
  receipt: number;
  actions?: string;
};

type NameRow = { kind: IdentityKind | 'lead-id'; keyHash?: Buffer; number?: number };

async function claimLate(
  tx: Tx,
  { id, name }: KnownRepository,
  { event, now }: { event: number; now: number },
): Promise<void> {
  const [rows, claimed, state] = await Promise.all([
    tx.all<NameRow>(NAMES, { event }),
    tx.all<{ number: number }>(EVER_CLAIMED, { event, id }),
    tx.get<EventState>(STATE, { event }),
  ]);
  if (!state) return;
  const names = rows.map(toMatchName);
  const view = await readDirectoryView(tx, name, names);
  const known = new Set(numbersOf(claimed));
  const { leads } = matchLeads(names, view, state);
  const late = leads.filter((number) => !known.has(number));
  if (late.length > 0) await addLeads(tx, { repositoryId: id, late, now }, state);
}

function toMatchName({ kind, keyHash, number }: NameRow): MatchName {
  if (kind === 'lead-id') return { kind, number: number ?? 0 };
  return { kind, hash: keyHash ?? Buffer.alloc(0) };
}

/**
 * Whoever has the event in hand loses it: what it knows of the leads is not all any more. It is due by any clock,
 * since when it was asked for.
 */
const MATCH_ANEW = `
  UPDATE event SET due_at = asked_at, lease_token = NULL, lease_until = NULL, lead_ids = @leadIds
  WHERE id = @event`;

const REOPEN = `
  UPDATE event SET outcome = 'PENDING', completed_at = NULL, due_at = asked_at, progress = @progress,
    lead_ids = @leadIds, lease_token = NULL, lease_until = NULL, acknowledged_at = NULL,
    history = ${withStep(`jsonb_build_object('at', @now::bigint, 'what', 'late-lead')`, `CASE WHEN outcome = 'PENDING' THEN history ELSE ${WITH_END} END`)},
    attempts = CASE WHEN outcome = 'PENDING' THEN attempts ELSE 0 END,
    last_error = CASE WHEN outcome = 'PENDING' THEN last_error END
  WHERE id = @event`;

type Late = { repositoryId: number; late: readonly number[]; now: number };

/** Claims the leads for the event, and has them acted on: one that was settled is open again. */
async function addLeads(
  tx: Tx,
  { repositoryId, late, now }: Late,
  state: EventState,
): Promise<void> {
  const { event, receiptId } = state;
  const order = { repositoryId, receiptId, event, numbers: late };
  const before = await claimedBy(tx, { repositoryId, event });
  const leadIds = toLeadIds(
    [...new Set([...fromLeadIds(state.leadIds), ...late])].sort((left, right) => left - right),
  );
  await insertClaims(tx, { repositoryId, claims: claimsOf(order, now) });
  if (state.outcome === 'PENDING' && state.stage === 'match') {
    await tx.run(MATCH_ANEW, { event, leadIds });
    return;
  }
  confirmClaims(tx, order);
  const progress: ActProgress = {
    stage: 'act',
    actions: JSON.parse(state.actions ?? '[]') as Action[],
    leads: [
      ...leadsBefore(state, before),
      ...late.map((number) => ({ number, state: 'open' as const })),
    ],
  };
  await tx.run(REOPEN, { event, now, leadIds, progress: JSON.stringify(progress) });
  await tx.run(REFRESH_RECEIPT_STATUS, { receipts: [state.receipt] });
}

/** Progress of the leads that it had before: done when the event was DONE, and else to be tried again. */
function leadsBefore(state: EventState, numbers: readonly number[]): readonly LeadProgress[] {
  const { outcome, erasure, progress } = state;
  const remains = state.remains && (JSON.parse(state.remains) as Remainder[]);
  const leads = progress === undefined ? undefined : leadsIn(JSON.parse(progress) as EventProgress);
  if (leads) return leads;
  return numbers.map((number) =>
    outcome === 'DONE'
      ? { number, state: 'done', erasure, ...(remains && { remains }) }
      : { number, state: 'open' },
  );
}

/** Not checked here: whoever leases the event does, and begins anew what another version wrote. */
function leadsIn(progress: EventProgress): readonly LeadProgress[] | undefined {
  return progress.stage === 'act' && Array.isArray(progress.leads) ? progress.leads : undefined;
}
