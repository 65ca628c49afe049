/** Receipts out of the store: one, or the page of those that a filter finds. */
import {
  type EventStep,
  type NameKind,
  type Outcome,
  outcomes,
  type PartnerPath,
  type Receipt,
  type ReceiptDetail,
  type ReceiptEventDetail,
  type ReceiptSummary,
  type Remainder,
  type RepeatedEvent,
  type ReceiptStatus,
} from './receipt.ts';
import type { Listed, PageRange } from '#shared/pagination/page.ts';
import type { Statements, Values } from '#shared/database.ts';
import { either } from '#shared/sql.ts';

/** Every condition that is given must hold. */
export type ReceiptFilter = {
  partnerId?: string;
  status?: ReceiptStatus;
  correlationId?: string;
  /** One event has it, and the four below when they are given too. */
  outcome?: Outcome;
  eventId?: string;
  externalId?: string;
  /** Number of an issue that the event has matched. */
  leadId?: number;
  /** Nobody has acknowledged the event. */
  isAcknowledged?: false;
  /** Received at or after this instant; milliseconds since the Unix epoch. */
  since?: number;
  /** Received before this instant; milliseconds since the Unix epoch. */
  before?: number;
};

const COLUMNS = `
  receipt.number, receipt.id, receipt.partner_id, receipt.path, receipt.event_type, receipt.external_id,
  receipt.correlation_id, receipt.status, receipt.received_at`;

const READ_RECEIPT = `SELECT ${COLUMNS}, receipt.repeats FROM receipt WHERE id = @id`;

const READ_EVENTS = `
  SELECT position, event_type, event_id, external_id, outcome, erasure, remains, note, lead_ids, attempts,
    last_error, completed_at, acknowledged_at, due_at, coalesce(names, '') AS names, history,
    EXISTS (SELECT 1 FROM claim WHERE claim.event = event.id AND claim.is_provisional
      AND claim.released_at IS NULL) AS is_provisional,
    outcome IN ('UNMATCHED', 'FAILED') AND payload IS NOT NULL AS is_replayable
  FROM event WHERE receipt = @number ORDER BY position`;

/** Every outcome is named so that the index `event_by_outcome` has the whole result. */
const COUNT_OUTCOMES = `
  SELECT receipt, outcome, count(*) AS count FROM event
  WHERE receipt = ANY(@numbers::bigint[])
    AND outcome IN (${outcomes.map((outcome) => `'${outcome}'`).join(', ')})
  GROUP BY receipt, outcome`;

/** By the same index; then it reads the events that wait, and no others. */
const NEXT_DUE = `
  SELECT receipt, min(due_at) AS due_at FROM event
  WHERE receipt = ANY(@numbers::bigint[]) AND outcome = 'PENDING'
  GROUP BY receipt`;

type ReceiptRow = Receipt & { number: number; path: PartnerPath };
type OutcomeRow = { receipt: number; outcome: Outcome; count: number };
type DueRow = { receipt: number; dueAt: number };
type Stored = 'leadIds' | 'names' | 'history' | 'remains';
type EventRow = Omit<ReceiptEventDetail, Stored> & {
  names: string;
  leadIds?: string;
  remains?: string;
  history: string;
};

type ReceiptRange = PageRange & { filter: ReceiptFilter };

/** Receipts that the filter finds, newest first. @throws {store-unavailable} */
export async function listReceipts(
  db: Statements,
  range: ReceiptRange,
): Promise<Listed<ReceiptSummary>[]> {
  const rows = await selectPage(db, range);
  const numbers = rows.map(({ number }) => number);
  const due = await db.all<DueRow>(NEXT_DUE, { numbers });
  const counts = await db.all<OutcomeRow>(COUNT_OUTCOMES, { numbers });
  return toSummaries(rows, counts, due);
}

/** One receipt with its events. @throws {store-unavailable} */
export async function readReceipt(db: Statements, id: string): Promise<ReceiptDetail | undefined> {
  const found = await db.get<ReceiptRow & { repeats?: string }>(READ_RECEIPT, { id });
  if (!found) return undefined;
  const { repeats, ...row } = found;
  const events = await db.all<EventRow>(READ_EVENTS, row);
  return {
    ...toReceipt(row),
    path: row.path,
    events: events.map(toEvent),
    ...(repeats !== undefined && { repeats: JSON.parse(repeats) as RepeatedEvent[] }),
  };
}

async function selectPage(
  db: Statements,
  { filter, limit, after = Number.MAX_SAFE_INTEGER }: ReceiptRange,
): Promise<ReceiptRow[]> {
  const { from, number, where, values } = await receiptConditions(db, filter);
  const inOrder = either('receipt.number', number);
  return db.all<ReceiptRow>(
    `SELECT ${COLUMNS} FROM ${from}
     WHERE ${where} AND ${number} < @after
     GROUP BY ${inOrder} ORDER BY ${inOrder} DESC LIMIT @limit`,
    { ...values, after, limit },
  );
}

function toSummaries(
  rows: readonly ReceiptRow[],
  counts: readonly OutcomeRow[],
  due: readonly DueRow[],
): Listed<ReceiptSummary>[] {
  const byReceipt = Map.groupBy(counts, ({ receipt }) => receipt);
  const dueAt = new Map(due.map((one) => [one.receipt, one.dueAt]));
  return rows.map((row) => {
    const own = byReceipt.get(row.number) ?? [];
    const counted = Object.fromEntries(own.map(({ outcome, count }) => [outcome, count]));
    const nextDueAt = dueAt.get(row.number);
    const next = nextDueAt !== undefined && { nextDueAt };
    const item = { ...toReceipt(row), path: row.path, outcomes: counted, ...next };
    return { item, position: row.number };
  });
}

function toReceipt({ number: _number, path: _path, ...row }: ReceiptRow): Receipt {
  return row;
}

function toEvent({ leadIds, names, history, remains, ...row }: EventRow): ReceiptEventDetail {
  return {
    ...row,
    ...(remains !== undefined && { remains: JSON.parse(remains) as Remainder[] }),
    names: names === '' ? [] : (names.split(' ') as NameKind[]),
    leadIds: leadIds === undefined ? [] : (JSON.parse(leadIds) as string[]),
    history: JSON.parse(history, (_name, value: unknown) => value ?? undefined) as EventStep[],
  };
}

/** A filter in SQL: the tables to read, the conditions (all of them hold), and their values. */
type Conditions = Tables & { where: string; values: Values };

type Tables = {
  from: string;
  /** The receipt's number, named so that the leading index is in its order. */
  number: string;
};

type Name = Exclude<keyof ReceiptFilter, 'since' | 'before' | 'isAcknowledged'>;

const columns: Record<Name, string> = {
  leadId: 'event_lead.number',
  eventId: 'event.event_id',
  externalId: 'event.external_id',
  correlationId: 'receipt.correlation_id',
  outcome: 'event.outcome',
  status: 'receipt.status',
  partnerId: 'receipt.partner_id',
};

const NAMES = Object.keys(columns) as Name[];

/** The events that have the lead `leadId`, when `event_lead.number` is that. Looked up before anything else, for a lead has few events. */
export const EVENTS_OF_LEAD = either(
  `(SELECT event.*, @leadId::bigint AS number FROM event
    WHERE event.lead_ids @> jsonb_build_array(@leadId::text) OFFSET 0) AS event
    CROSS JOIN LATERAL (SELECT event.number, event.receipt) AS event_lead`,
  'event_lead CROSS JOIN event ON event.id = event_lead.event',
);

/** Tables to read, in this order, by the name with the fewest rows. */
const leaders: Record<Name, Tables> = {
  leadId: {
    from: `${EVENTS_OF_LEAD} /*sqlite CROSS*/ JOIN receipt ON receipt.number = event_lead.receipt`,
    number: 'event_lead.receipt',
  },
  eventId: eventsBy('event_by_event_id'),
  externalId: eventsBy('event_by_external_id'),
  correlationId: receiptsBy('receipt_by_correlation'),
  outcome: eventsBy('event_by_outcome'),
  status: receiptsBy('receipt_by_status'),
  partnerId: receiptsBy('receipt_by_partner'),
};

function eventsBy(index: string): Tables {
  return {
    from: `event /*sqlite INDEXED BY ${index} CROSS*/ JOIN receipt ON receipt.number = event.receipt`,
    number: 'event.receipt',
  };
}

function receiptsBy(index: string): Tables {
  return { from: `receipt /*sqlite INDEXED BY ${index}*/`, number: 'receipt.number' };
}

/** Each of them finds a few receipts. */
const IDENTIFIERS = ['leadId', 'eventId', 'externalId', 'correlationId'] as const;
/** Each of them finds a few receipts or nearly all. */
const KINDS = ['outcome', 'status', 'partnerId'] as const;

/**
 * Which receipts a filter finds; what it says of events is met by one and the same event. The index
 * that finds the fewest leads the way, so that a few among a million are found at once.
 */
export async function receiptConditions(
  db: Statements,
  filter: ReceiptFilter,
): Promise<Conditions> {
  const isGiven = (name: Name): boolean => filter[name] !== undefined;
  const names = NAMES.filter(isGiven);
  const leader = IDENTIFIERS.find(isGiven) ?? (await rarest(db, filter));
  const { from, number } = withEvents(leader ? leaders[leader] : ALL_RECEIPTS, filter);
  const where = names.map((name) => `${columns[name]} = @${name}`);
  if (filter.isAcknowledged === false) where.push('event.acknowledged_at IS NULL');
  const time = await timeConditions(db, filter, number);
  return {
    from,
    number,
    where: [...where, ...time.where].join(' AND ') || 'true',
    values: { ...filter, ...time.values },
  };
}

async function timeConditions(
  db: Statements,
  { since = EARLIEST, before = LATEST }: ReceiptFilter,
  number: string,
): Promise<{ where: string[]; values?: Values }> {
  if (since === EARLIEST && before === LATEST) return { where: [] };
  const { first, last } = await numbersBetween(db, since, before);
  return {
    where: [
      'receipt.received_at >= @since',
      'receipt.received_at < @before',
      `${number} BETWEEN @first AND @last`,
    ],
    values: { since, before, first, last },
  };
}

const ALL_RECEIPTS: Tables = { from: 'receipt', number: 'receipt.number' };

/** The receipts' events as well, where they do not lead and the filter speaks of them. */
function withEvents({ from, number }: Tables, filter: ReceiptFilter): Tables {
  if ((filter.outcome ?? filter.isAcknowledged) === undefined || number !== ALL_RECEIPTS.number)
    return { from, number };
  return { from: `${from} /*sqlite CROSS*/ JOIN event ON event.receipt = receipt.number`, number };
}

const COUNTED_ROWS_MAX = 1000;

/** Of the kinds that are given, the one with the fewest rows. */
async function rarest(
  db: Statements,
  filter: ReceiptFilter,
): Promise<(typeof KINDS)[number] | undefined> {
  const kinds = KINDS.filter((name) => filter[name] !== undefined);
  if (kinds.length < 2) return kinds[0];
  const counted = kinds.map(async (name) => {
    const [table] = columns[name].split('.');
    const sql = `SELECT count(*) AS rows FROM
      (SELECT 1 FROM ${table} WHERE ${columns[name]} = @value LIMIT ${COUNTED_ROWS_MAX}) AS found`;
    const row = await db.get<{ rows: number }>(sql, { value: filter[name] });
    return { name, rows: row?.rows ?? 0 };
  });
  return (await Promise.all(counted)).reduce((best, one) => (one.rows < best.rows ? one : best))
    .name;
}

const EARLIEST = Number.MIN_SAFE_INTEGER;
const LATEST = Number.MAX_SAFE_INTEGER;

const ROWS_BETWEEN_MAX = 20_000;

const NUMBERS_BETWEEN = `
  SELECT count(*) AS count, coalesce(min(number), 1) AS first, coalesce(max(number), 0) AS last
  FROM (SELECT number FROM receipt WHERE received_at >= @since AND received_at < @before
    LIMIT ${ROWS_BETWEEN_MAX + 1}) AS found`;

type Numbers = { first: number; last: number };

/**
 * Numbers that no receipt of the span lies outside of. Receipts are numbered as they are accepted,
 * and the clock may have been set meanwhile: a filter on the time alone would have everything read
 * that is older or newer. All numbers where the span is so long that this is not much in proportion.
 */
async function numbersBetween(db: Statements, since: number, before: number): Promise<Numbers> {
  const row = await db.get<Numbers & { count: number }>(NUMBERS_BETWEEN, { since, before });
  const { count, first, last } = row ?? { count: 0, first: 1, last: 0 };
  return count > ROWS_BETWEEN_MAX ? { first: 0, last: LATEST } : { first, last };
}
