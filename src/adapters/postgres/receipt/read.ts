import { outcomes } from '#partners/receipts/receipt.ts';
import type {
  EventStep,
  Outcome,
  PartnerPath,
  Receipt,
  ReceiptDetail,
  ReceiptEventDetail,
  ReceiptSummary,
} from '#partners/receipts/receipt.ts';
import type { ReceiptFilter, ReceiptStore } from '#partners/receipts/receipt-store.ts';
import { cutPage } from '#shared/pagination/cut-page.ts';
import { present } from '#shared/store/row.ts';
import type { Session } from '../connection/database.ts';
import { splitConditions } from './conditions.ts';

const COLUMNS = `
  receipt.number, receipt.id, receipt.partner_id, receipt.path, receipt.event_type, receipt.external_id,
  receipt.correlation_id, receipt.status, receipt.received_at`;

const READ_RECEIPT = `SELECT ${COLUMNS} FROM receipt WHERE id = @id`;

const READ_EVENTS = `
  SELECT position, event_type, event_id, external_id, outcome, erasure, note,
    coalesce(string_to_array(names, ' '), '{}') AS names, coalesce(lead_ids, '{}') AS lead_ids,
    attempts, last_error, completed_at, acknowledged_at, due_at, history,
    EXISTS (SELECT 1 FROM claim WHERE claim.event = event.id AND is_provisional
      AND released_at IS NULL) AS is_provisional,
    outcome IN ('UNMATCHED', 'FAILED') AND payload IS NOT NULL AS is_replayable
  FROM event WHERE receipt = @number ORDER BY position`;

const COUNT_OUTCOMES = `
  SELECT receipt, outcome, count(*) AS count, min(due_at) AS due_at FROM event
  WHERE receipt = ANY(@numbers::bigint[])
    AND outcome IN (${outcomes.map((outcome) => `'${outcome}'`).join(', ')})
  GROUP BY receipt, outcome`;

type ReceiptRow = Receipt & { number: number; path: PartnerPath };
type OutcomeRow = { receipt: number; outcome: Outcome; count: number; dueAt: number | null };

/** Reads receipts, newest first. */
export function createReceiptReader(session: Session): Pick<ReceiptStore, 'list' | 'read'> {
  return {
    list: async (filter, limit, after = Number.MAX_SAFE_INTEGER) => {
      const rows = await listRows(session, filter, { after, limit: limit + 1 });
      const { items, last } = cutPage(rows, limit);
      const numbers = items.map(({ number }) => number);
      const counts = await session.all<OutcomeRow>(COUNT_OUTCOMES, { numbers });
      const receipts = toSummaries(items, counts);
      return last ? { receipts, next: last.number } : { receipts };
    },
    read: async (id): Promise<ReceiptDetail | undefined> => {
      const row = await session.get<ReceiptRow>(READ_RECEIPT, { id });
      if (!row) return undefined;
      const rows = await session.all<EventRow>(READ_EVENTS, row);
      const events = rows.map(toEvent);
      return { ...toReceipt(row), path: row.path, events };
    },
  };
}

type Range = { after: number; limit: number };

const PAGE = 'ORDER BY receipt.number DESC LIMIT @limit';

/** So many of the newest are looked through for what many receipts may have. */
const RECENT = 1000;

/** What few events have in common. */
const NAMES = ['eventId', 'externalId', 'leadId'] as const;

/**
 * An outcome is that of many receipts or of few, and the server cannot know which: among the newest
 * many are found soon, and few are found by the index of outcomes. Left to itself it goes through all
 * receipts for the one that has a rare name.
 */
async function listRows(
  session: Session,
  filter: ReceiptFilter,
  range: Range,
): Promise<readonly ReceiptRow[]> {
  const { ofReceipt, ofEvent } = splitConditions(filter);
  const values = { ...filter, ...range };
  const where = `${ofReceipt} AND receipt.number < @after`;
  const from = `SELECT ${COLUMNS} FROM receipt WHERE ${where}`;
  if (ofEvent === undefined) return session.all(`${from} ${PAGE}`, values);
  if (!NAMES.some((name) => filter[name] !== undefined)) {
    const recent = await session.all<ReceiptRow>(
      `WITH recent AS MATERIALIZED (${from} ORDER BY receipt.number DESC LIMIT ${RECENT})
       SELECT receipt.* FROM recent AS receipt
         CROSS JOIN LATERAL (${ofEvent} AND event.receipt = receipt.number LIMIT 1) AS found
       ${PAGE}`,
      values,
    );
    if (recent.length === range.limit) return recent;
  }
  return session.all(`${from} AND receipt.number = ANY(ARRAY(${ofEvent})) ${PAGE}`, values);
}

function toSummaries(rows: readonly ReceiptRow[], counts: readonly OutcomeRow[]): ReceiptSummary[] {
  const byReceipt = Map.groupBy(counts, ({ receipt }) => receipt);
  return rows.map((row) => {
    const own = byReceipt.get(row.number) ?? [];
    const counted = Object.fromEntries(own.map(({ outcome, count }) => [outcome, count]));
    const next = own.find(({ dueAt }) => dueAt !== null); // the row of those that are PENDING
    return {
      ...toReceipt(row),
      path: row.path,
      outcomes: counted,
      ...(typeof next?.dueAt === 'number' && { nextDueAt: next.dueAt }),
    };
  });
}

function toReceipt({ number: _number, path: _path, ...row }: ReceiptRow): Receipt {
  return present(row) as Receipt;
}

type EventRow = Omit<ReceiptEventDetail, 'history'> & { history: string };

function toEvent(row: EventRow): ReceiptEventDetail {
  const steps = JSON.parse(row.history) as object[];
  const history = steps.map((step) => present(step) as EventStep);
  return { ...(present(row) as ReceiptEventDetail), history };
}
