import type { Database as Handle } from 'better-sqlite3';
import type { ReceiptFilter } from '#partners/receipts/receipt-store.ts';

/** A filter in SQL: the tables to read, the conditions (all of them hold), and their values. */
export type Conditions = Tables & { where: string[]; values: (string | number)[] };

type Tables = {
  from: string;
  /** The receipt's number, named so that the leading index is in its order. */
  number: string;
};

type Name = Exclude<keyof ReceiptFilter, 'since' | 'before' | 'isAcknowledged'>;

const columns: Record<Name, string> = {
  leadId: 'event_lead.number',
  eventId: 'event.eventId',
  externalId: 'event.externalId',
  correlationId: 'receipt.correlationId',
  outcome: 'event.outcome',
  status: 'receipt.status',
  partnerId: 'receipt.partnerId',
};

const NAMES = Object.keys(columns) as Name[];

/** What is read when the name leads the way. */
const leaders: Record<Name, Tables> = {
  leadId: {
    from: `event_lead CROSS JOIN event ON event.id = event_lead.event
      CROSS JOIN receipt ON receipt.number = event_lead.receipt`,
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
    from: `event INDEXED BY ${index} CROSS JOIN receipt ON receipt.number = event.receipt`,
    number: 'event.receipt',
  };
}

function receiptsBy(index: string): Tables {
  return { from: `receipt INDEXED BY ${index}`, number: 'receipt.number' };
}

/** Each of them finds a few receipts. */
const IDENTIFIERS = ['leadId', 'eventId', 'externalId', 'correlationId'] as const;
/** Each of them finds a few receipts or nearly all. */
const KINDS = ['outcome', 'status', 'partnerId'] as const;

/**
 * Which receipts a filter finds; what it says of events is met by one and the same event. The index
 * that finds the fewest leads the way, so that a few among a million are found at once.
 */
export function receiptConditions(handle: Handle, filter: ReceiptFilter): Conditions {
  const isGiven = (name: Name): boolean => filter[name] !== undefined;
  const names = NAMES.filter(isGiven);
  const leader = IDENTIFIERS.find(isGiven) ?? rarest(handle, filter);
  const { from, number } = withEvents(leader ? leaders[leader] : ALL_RECEIPTS, filter);
  const where = names.map((name) => `${columns[name]} = ?`);
  if (filter.isAcknowledged === false) where.push('event.acknowledgedAt IS NULL');
  const values = names.map((name) => filter[name] as string | number);
  const time = timeConditions(handle, filter, number);
  return { from, number, where: [...where, ...time.where], values: [...values, ...time.values] };
}

function timeConditions(
  handle: Handle,
  { since, before }: ReceiptFilter,
  number: string,
): Pick<Conditions, 'where' | 'values'> {
  if (since === undefined && before === undefined) return { where: [], values: [] };
  const [from, until] = [since ?? EARLIEST, before ?? LATEST];
  const { first, last } = numbersBetween(handle, from, until);
  return {
    where: ['receipt.receivedAt >= ?', 'receipt.receivedAt < ?', `${number} BETWEEN ? AND ?`],
    values: [from, until, first, last],
  };
}

const ALL_RECEIPTS: Tables = { from: 'receipt', number: 'receipt.number' };

/** The receipts' events as well, where they do not lead and the filter speaks of them. */
function withEvents({ from, number }: Tables, filter: ReceiptFilter): Tables {
  if ((filter.outcome ?? filter.isAcknowledged) === undefined || number !== ALL_RECEIPTS.number)
    return { from, number };
  return { from: `${from} CROSS JOIN event ON event.receipt = receipt.number`, number };
}

const COUNTED_ROWS_MAX = 1000;

/** Of the kinds that are given, the one with the fewest rows. */
function rarest(handle: Handle, filter: ReceiptFilter): (typeof KINDS)[number] | undefined {
  const given = KINDS.filter((name) => filter[name] !== undefined);
  if (given.length < 2) return given[0];
  const counted = given.map((name) => {
    const [table] = columns[name].split('.');
    const sql = `SELECT count(*) FROM
      (SELECT 1 FROM ${table} WHERE ${columns[name]} = ? LIMIT ${COUNTED_ROWS_MAX})`;
    const rows = handle.prepare<unknown[], number>(sql).pluck().get(filter[name]) ?? 0;
    return { name, rows };
  });
  return counted.reduce((best, one) => (one.rows < best.rows ? one : best)).name;
}

const EARLIEST = Number.MIN_SAFE_INTEGER;
const LATEST = Number.MAX_SAFE_INTEGER;

const ROWS_BETWEEN_MAX = 20_000;

const NUMBERS_BETWEEN = `
  SELECT count(*) AS count, coalesce(min(number), 1) AS first, coalesce(max(number), 0) AS last FROM
    (SELECT number FROM receipt WHERE receivedAt >= ? AND receivedAt < ?
     LIMIT ${ROWS_BETWEEN_MAX + 1})`;

type Numbers = { first: number; last: number };

/**
 * Numbers that no receipt of the span lies outside of. Receipts are numbered as they are accepted,
 * and the clock may have been set meanwhile: a filter on the time alone would have everything read
 * that is older or newer. All numbers where the span is so long that this is not much in proportion.
 */
function numbersBetween(handle: Handle, since: number, before: number): Numbers {
  const { count, first, last } = handle
    .prepare<[number, number], Numbers & { count: number }>(NUMBERS_BETWEEN)
    .get(since, before) ?? { count: 0, first: 1, last: 0 };
  return count > ROWS_BETWEEN_MAX ? { first: 0, last: LATEST } : { first, last };
}
