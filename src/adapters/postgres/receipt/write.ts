import type { PayloadSealer } from '#partners/receipts/payload.ts';
import type { Receipt } from '#partners/receipts/receipt.ts';
import type { Acceptance, NewEvent, NewReceipt } from '#partners/receipts/receipt-store.ts';
import { present } from '#shared/store/row.ts';
import type { RowOf } from '#shared/store/row.ts';
import { openAcceptanceClaims } from '../claims/claim-on-acceptance.ts';
import type { Session } from '../connection/database.ts';
import { insertMerges } from '../directory/merges.ts';
import { insertDeliveries, keyValues, openReusedIds } from './insert.ts';
import type { Writing } from './insert.ts';
import { workRepeat } from './repeat.ts';
import type { Repeat, SameEvent } from './repeat.ts';
import * as sql from './statements.ts';

export type DeliveryWriterDeps = {
  /** Encrypts the bytes of events. */
  sealer: PayloadSealer;
  /** `owner/name`, in any case: whose leads are claimed. */
  repository: string;
};

/** A delivery, and what is known of its events. */
type Sorted = { delivery: NewReceipt; events: NewEvent[]; repeats: Repeat[] };

/**
 * Writes deliveries that can go together (`countTogether`) inside the caller's transaction: the events
 * that are new under receipts of their own, and those that came before as what they ask for now.
 */
export async function writeDeliveries(
  session: Session,
  deliveries: readonly NewReceipt[],
  { sealer, repository }: DeliveryWriterDeps,
): Promise<Acceptance[]> {
  const events = deliveries.flatMap((delivery) => delivery.events);
  const names = events.flatMap((event) => event.names);
  await insertMerges(session, events); // before anybody is looked for
  const [before, claims, isIdReused] = await Promise.all([
    findSameEvents(session, events),
    openAcceptanceClaims(session, repository, names),
    openReusedIds(session, events),
  ]);
  const writing: Writing = { session, sealer, claims, isIdReused };
  const sorted = deliveries.map((delivery) => sortOut(delivery, before));
  await insertDeliveries(
    writing,
    sorted.filter((one) => !isRepeat(one)),
  );
  const acceptances: Acceptance[] = [];
  for (const one of sorted) acceptances.push(await acceptOne(writing, one));
  return acceptances;
}

async function findSameEvents(
  session: Session,
  events: readonly NewEvent[],
): Promise<Map<string, SameEvent>> {
  if (events.length === 0) return new Map();
  const rows = await session.all<SameEvent>(sql.FIND_SAME_EVENTS, keyValues(events));
  return new Map(rows.map((row) => [row.key.toString('hex'), row]));
}

/** An event that stands twice in one delivery is taken once. */
function sortOut(delivery: NewReceipt, before: ReadonlyMap<string, SameEvent>): Sorted {
  const seen = new Set<string>();
  const sorted: Sorted = { delivery, events: [], repeats: [] };
  for (const event of delivery.events) {
    const key = event.sameEventKey.toString('hex');
    if (seen.has(key)) continue;
    seen.add(key);
    const same = before.get(key);
    if (same) sorted.repeats.push({ event, before: same });
    else sorted.events.push(event);
  }
  return sorted;
}

/** Every event came before. */
function isRepeat({ events, repeats }: Sorted): boolean {
  return events.length === 0 && repeats.length > 0;
}

async function acceptOne(writing: Writing, sorted: Sorted): Promise<Acceptance> {
  const { delivery, events, repeats } = sorted;
  let queued = events.filter(({ outcome }) => outcome === 'PENDING').length;
  for (const repeat of repeats)
    if (await workRepeat(writing, repeat, delivery.receivedAt)) queued += 1;
  const [first] = repeats;
  if (first && isRepeat(sorted)) {
    const original = await readOriginal(writing.session, first.before.receipt);
    return { kind: 'repeat', receipt: original, queued, written: [] };
  }
  return { kind: 'accepted', receipt: asAccepted(delivery), queued, written: events };
}

/** The receipt as it was first answered, whatever has become of it since. */
async function readOriginal(session: Session, receipt: number): Promise<Receipt> {
  const row = await session.get<RowOf<Receipt>>(sql.READ_ORIGINAL, { receipt });
  if (!row) throw new Error('an event has no receipt');
  return { ...(present(row) as Receipt), status: 'ACCEPTED' };
}

function asAccepted(delivery: NewReceipt): Receipt {
  const { path: _path, events: _events, ...receipt } = delivery;
  return { ...receipt, status: 'ACCEPTED' };
}

/**
 * How many deliveries can be written together: none may say of an event what one before it says, for
 * each is decided by what the store knew before.
 */
export function countTogether(deliveries: readonly NewReceipt[]): number {
  const seen = new Set<string>();
  const count = deliveries.findIndex(({ events }) => {
    const own = new Set(events.flatMap(keysOf));
    const isKnown = [...own].some((key) => seen.has(key));
    for (const key of own) seen.add(key);
    return isKnown;
  });
  return count === -1 ? deliveries.length : count;
}

function keysOf({ sameEventKey, idKeys }: NewEvent): string[] {
  const id = idKeys ? [`id/${idKeys.id.toString('hex')}`] : [];
  return [`same/${sameEventKey.toString('hex')}`, ...id];
}
