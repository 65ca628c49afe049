import type { Outcome, ReceiptStatus } from './receipt.ts';
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

/** A filter in SQL: the tables to read, the conditions (all of them hold), and their values. */
export type Conditions = Tables & { where: string; values: Values };

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
