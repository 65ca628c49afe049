/**
 * The changes of leads, for the repository of the configured name. One row for each lead that could ever be read, in
 * the order in which they changed last; rows of leads that went are kept for 30 days.
 */
import { DAY } from '#shared/clock.ts';
import { send, type Tx } from '#shared/database.ts';
import { toRecords } from '#shared/sql.ts';
import { IS_CLAIMED, type LeadStore, NAMED, readRepositoryId } from '../lead-store.ts';
import {
  FEED_READABLE_MS,
  ERA,
  type LeadChange,
  type LeadSnapshot,
  nextChange,
  type ReadLead,
  shownChange,
  type Span,
} from './lead-change.ts';

/** The change behind which a read goes on: its position, then the issue number. */
export type FeedPlace = readonly [position: number, number: number];

const CHANGE_COLUMNS =
  'number, position, changed_at, is_visible, updated_at, labels, look, carried';

/** JSON comes as its text. */
type ChangeRow = Omit<LeadChange, 'labels' | 'leadDigest' | 'carried'> & {
  labels: string;
  look?: Buffer;
  carried: string;
};

function toChange({ look, ...row }: ChangeRow): LeadChange {
  return {
    ...row,
    leadDigest: look,
    labels: JSON.parse(row.labels) as string[],
    carried: JSON.parse(row.carried) as Span[],
  };
}

const END = `
  SELECT (SELECT max(position) FROM lead_change WHERE repository_id = known.repository_id) AS position
  FROM tracker_repository AS known WHERE name = @name`;

const ERA_BEGINS = `
  SELECT position FROM lead_change WHERE repository_id = ${NAMED} AND number = @number`;

const AFTER = `
  SELECT ${CHANGE_COLUMNS} FROM lead_change
  WHERE repository_id = ${NAMED} AND (position, number) > (@position, @number)
  ORDER BY position, number LIMIT @limit`;

/** The place behind all changes; undefined while the store does not know the repository. @throws {store-unavailable} */
export async function readFeedEnd({ db, repository }: LeadStore): Promise<FeedPlace | undefined> {
  const last = await db.get<{ position?: number }>(END, { name: repository });
  return last && [last.position ?? 0, Number.MAX_SAFE_INTEGER];
}

/** The position at which the era begins that cursors hold for; undefined: it is the first. @throws {store-unavailable} */
export async function readEra({ db, repository }: LeadStore): Promise<number | undefined> {
  return (await db.get<{ position: number }>(ERA_BEGINS, { name: repository, number: ERA }))
    ?.position;
}

/** The next changes, in order. @throws {store-unavailable} */
export async function readChangesAfter(
  { db, repository }: LeadStore,
  [position, number]: FeedPlace,
  limit: number,
): Promise<readonly LeadChange[]> {
  const values = { name: repository, position, number, limit };
  return (await db.all<ChangeRow>(AFTER, values)).map(toChange);
}

const OF_NAMED = `
  SELECT ${CHANGE_COLUMNS} FROM lead_change
  WHERE repository_id = ${NAMED} AND number = ANY(@numbers::bigint[])`;

/** The changes of these leads; of one that could never be read there is none. @throws {store-unavailable} */
export async function readChangesOf(
  { db, repository }: LeadStore,
  numbers: readonly number[],
): Promise<readonly LeadChange[]> {
  return (await db.all<ChangeRow>(OF_NAMED, { name: repository, numbers })).map(toChange);
}

/** Leads of a repository that something was written of, and when: ms since the Unix epoch. */
type Touched = { id: number; numbers: readonly number[]; at: number };

/** The digest and the labels that a lead was seen with, beside those that the directory has now. */
export type Seen = Pick<LeadSnapshot, 'leadDigest' | 'seen'>;

const OF_LEADS = 'repository_id = @id AND number = ANY(@numbers::bigint[])';

const STATES = `
  SELECT number, updated_at, labels,
    approved AND NOT is_moved AND NOT ${IS_CLAIMED('directory_lead')} AS is_visible
  FROM directory_lead WHERE ${OF_LEADS}`;

/**
 * To be called, in the same transaction, whenever something was written of leads in the directory. What a crawl meets
 * for the first time (`firstMet`), and nobody touched for a day, is no change: who follows the feed read it when they
 * began.
 */
export async function noteLeads(
  tx: Tx,
  touched: Touched,
  { firstMet, seen }: { firstMet?: ReadonlySet<number>; seen?: ReadonlyMap<number, Seen> } = {},
): Promise<void> {
  if (touched.numbers.length === 0) return;
  const { known, position } = await readKnown(tx, touched);
  const rows = await tx.all<StateRow>(STATES, touched);
  const changes = rows.flatMap((row) => {
    const { number, updatedAt } = row;
    const before = known.get(number);
    const isOld = !before && firstMet?.has(number) === true && updatedAt < touched.at - DAY;
    const state = { ...row, labels: JSON.parse(row.labels) as string[], ...seen?.get(number) };
    return nextChange(before, state, isOld ? updatedAt : position) ?? [];
  });
  putChanges(tx, touched.id, { changes, position });
}

type StateRow = { number: number; updatedAt: number; labels: string; isVisible: boolean };

type Known = { known: ReadonlyMap<number, LeadChange>; position: number };

/** A store that was set back goes on behind what it had given out before. */
const LAST = 'SELECT max(position) AS position FROM lead_change WHERE repository_id = @id';

const KNOWN = `SELECT ${CHANGE_COLUMNS} FROM lead_change WHERE ${OF_LEADS}`;

/** Reads the changes that the feed has of these leads. `position`: of those that are made now. */
export async function readKnown(tx: Tx, touched: Touched): Promise<Known> {
  const [rows, last] = await Promise.all([
    tx.all<ChangeRow>(KNOWN, touched),
    tx.get<{ position?: number }>(LAST, touched),
  ]);
  return {
    known: new Map(rows.map((row) => [row.number, toChange(row)])),
    position: Math.max(touched.at, (last?.position ?? 0) + 1),
  };
}

const PUT = `
  INSERT INTO lead_change (repository_id, ${CHANGE_COLUMNS})
  SELECT @id::bigint, ${CHANGE_COLUMNS} FROM jsonb_to_recordset(@changes) AS given
    (number bigint, position bigint, changed_at bigint, is_visible boolean, updated_at bigint,
      labels jsonb, look bytea, carried jsonb)
  WHERE true
  ON CONFLICT (repository_id, number) DO UPDATE SET position = excluded.position,
    changed_at = excluded.changed_at, is_visible = excluded.is_visible, updated_at = excluded.updated_at,
    labels = excluded.labels, look = excluded.look, carried = excluded.carried`;

export const CHANNEL = 'trackport_leads';

/** Heard when this transaction is committed. */
const NOTIFY = `NOTIFY ${CHANNEL}`;

/** Wakes those who wait for changes when there are some at `position`. */
function putChanges(
  tx: Tx,
  id: number,
  { changes, position }: { changes: readonly LeadChange[]; position: number },
): void {
  if (changes.length === 0) return;
  const rows = changes.map(({ leadDigest: look, ...change }) => ({ ...change, look }));
  send(tx, PUT, { id, changes: toRecords(rows) });
  if (changes.some((change) => change.position === position)) void tx.get(NOTIFY);
}

/** Notes that nobody can read these leads any more, whatever the directory knows of them. */
export async function hideLeads(tx: Tx, touched: Touched): Promise<void> {
  if (touched.numbers.length === 0) return;
  hideKnown(tx, touched, await readKnown(tx, touched));
}

/** Hides `numbers` alone, by what was read of the leads before. */
export function hideKnown(
  tx: Tx,
  { id, ...touched }: Touched,
  { known, position }: Known,
  numbers = touched.numbers,
): void {
  const changes = [...new Set(numbers)].flatMap((number) => {
    const before = known.get(number);
    return before ? (nextChange(before, { ...before, isVisible: false }, position) ?? []) : [];
  });
  putChanges(tx, id, { changes, position });
}

const FORGET_CURSORS = 'UPDATE lead_feed_reader SET granted = NULL';

/**
 * Has every reader begin again: what they were told of these leads nobody knows, for the store was set back, or has
 * told of another repository meanwhile.
 */
export async function beginEra(tx: Tx, { id, at }: Omit<Touched, 'numbers'>): Promise<void> {
  const { position } = await readKnown(tx, { id, numbers: [], at });
  const noLead = { isVisible: false, updatedAt: 0, labels: [], carried: [] };
  const change = { ...noLead, number: ERA, position, changedAt: position };
  putChanges(tx, id, { changes: [change], position });
  await tx.run(FORGET_CURSORS);
}

const CLAIMED = `SELECT number FROM lead_change WHERE ${OF_LEADS} AND ${IS_CLAIMED('lead_change')}`;

/** Hides those among the leads that are claimed. */
export async function hideClaimed(tx: Tx, touched: Touched): Promise<void> {
  const [claimed, known] = await Promise.all([
    tx.all<{ number: number }>(CLAIMED, touched),
    readKnown(tx, touched),
  ]);
  const numbers = claimed.map(({ number }) => number);
  hideKnown(tx, touched, known, numbers);
}

/** Nobody tells of an issue that goes while no webhook comes: it has no row in the directory any more. */
const LOST = `
  SELECT number FROM lead_change
  WHERE repository_id = @id AND is_visible AND position < (
      SELECT crawl_started_at FROM directory_state WHERE repository_id = @id)
    AND NOT EXISTS (SELECT 1 FROM directory_lead AS lead
      WHERE lead.repository_id = lead_change.repository_id AND lead.number = lead_change.number)`;

/** The newest stays: positions count on from it. So does where the era begins. */
const FORGET = `
  DELETE FROM lead_change
  WHERE repository_id = @id AND NOT is_visible AND position < @before AND number <> ${ERA}
    AND position < (SELECT max(position) FROM lead_change WHERE repository_id = @id)`;

/** Hides what a full crawl, which has ended, did not meet, and forgets changes that nobody can read any more. */
export async function noteCrawlEnd(tx: Tx, { id, at }: Omit<Touched, 'numbers'>): Promise<void> {
  const lost = await tx.all<{ number: number }>(LOST, { id });
  await hideLeads(tx, { id, numbers: lost.map(({ number }) => number), at });
  await tx.run(FORGET, { id, before: at - FEED_READABLE_MS });
}

const VISIBLE = `
  SELECT 1 FROM lead_change
  WHERE repository_id = ${NAMED} AND number = @number AND is_visible AND position <= @before`;

/**
 * Notes in a transaction of its own that nobody can read the lead any more; not one that changed since `before`, a
 * position. @throws {store-unavailable}
 */
export async function hideLeadNow(
  { db, repository: name, clock }: LeadStore,
  number: number,
  before = Infinity,
): Promise<void> {
  const values = { name, number, before: Math.min(before, Number.MAX_SAFE_INTEGER) };
  if (!(await db.get(VISIBLE, values))) return;
  await db.exclusive(async (tx) => {
    const id = await readRepositoryId(tx, name);
    if (id !== undefined) await hideLeads(tx, { id, numbers: [number], at: clock.now() });
  });
}

/**
 * Readers have these leads from now on, though the directory may not have met them yet; nothing of what was not known
 * of them is to be told them. Answers the positions of those whose change tells nothing else.
 * @throws {store-unavailable}
 */
export async function noteReadLeads(
  store: LeadStore,
  leads: readonly ReadLead[],
  changeOf = shownChange,
): Promise<ReadonlyMap<number, number>> {
  const { db, repository: name, clock } = store;
  const numbers = leads.map((lead) => lead.number);
  const read = async (): Promise<Map<number, LeadChange>> =>
    new Map((await readChangesOf(store, numbers)).map((change) => [change.number, change]));
  const before = await read();
  const isAllKnown = !leads.some((lead) => changeOf(before.get(lead.number), lead, 0));
  if (!isAllKnown)
    await db.exclusive(async (tx) => {
      const id = await readRepositoryId(tx, name);
      if (id !== undefined)
        await showLeads(tx, { id, numbers, at: clock.now() }, { leads, changeOf });
    });
  const known = isAllKnown ? before : await read();
  return new Map(leads.flatMap((lead) => positionOf(lead, known.get(lead.number))));
}

async function showLeads(
  tx: Tx,
  touched: Touched,
  { leads, changeOf }: { leads: readonly ReadLead[]; changeOf: typeof shownChange },
): Promise<void> {
  const { known, position } = await readKnown(tx, touched);
  const changes = leads.flatMap((lead) => {
    const before = known.get(lead.number);
    const isOld = !before && lead.updatedAt < touched.at - DAY;
    return changeOf(before, lead, isOld ? lead.updatedAt : position) ?? [];
  });
  putChanges(tx, touched.id, { changes, position });
}

const HIDDEN = `
  SELECT position FROM lead_change WHERE repository_id = ${NAMED} AND number = @number AND NOT is_visible`;

/** Position of the change by which nobody can read the lead any more. @throws {store-unavailable} */
export async function hiddenSince(
  { db, repository: name }: LeadStore,
  number: number,
): Promise<number | undefined> {
  return (await db.get<{ position: number }>(HIDDEN, { name, number }))?.position;
}

function positionOf(lead: ReadLead, known?: LeadChange): [number, number][] {
  const isSame = known?.isVisible === true && known.leadDigest?.equals(lead.leadDigest) === true;
  return isSame ? [[lead.number, known.position]] : [];
}
