/** Brings in, from a file of an operator's, what a partner sent in vain. */
import { setImmediate } from 'node:timers/promises';
import type { StoredRepositoryName } from '#leads/lead-store.ts';
import { appendAudit, type Origin } from '#shared/audit.ts';
import type { Clock } from '#shared/clock.ts';
import type { Database } from '#shared/database.ts';
import { readDirectoryView } from '#leads/directory/directory-view.ts';
import { effectOfRepeat } from '../event.ts';
import {
  type Acceptance,
  type Intake,
  type NewEvent,
  type NewReceipt,
  toReceipt,
} from '../intake/accept-delivery.ts';
import { leadsNamed, timesOf } from '../intake/claim-named.ts';
import { findKnown } from '../intake/repeats.ts';
import type { Partner } from '../partner.ts';
import { readDelivery } from '../read-delivery.ts';
import type { Outcome, PartnerPath } from '../receipts/receipt.ts';
import { type FileText, type OpenFile, readTexts, refuseText } from './read-texts.ts';

/** A file, and whose it is. */
export type ImportedFile = { open: OpenFile; partner: Partner; path: PartnerPath };

/** The store that deliveries are brought into, and the partners that sent them. */
type ImportTarget = Pick<Intake, 'writeReceipt' | 'directoryKey' | 'latestCreation' | 'newId'> & {
  db: Database;
  /** Its leads are claimed. */
  repository: StoredRepositoryName;
  partners: readonly Partner[];
  /** The bytes that one delivery may have. */
  bytesMax: number;
  clock: Clock;
};

/** Number of events of a delivery, by outcome. */
type Outcomes = Partial<Record<Outcome, number>>;

/** One delivery of the file, as it was brought in. */
export type ImportedDelivery = {
  /** Of its line, or of its element where the file is an array. */
  line: number;
  /** Of its receipt; of a repeat, of the original. */
  id: string;
  /** All of it came before. */
  repeat: boolean;
  /** Of the events that did not. */
  outcomes: Outcomes;
  /** Events that wait for the worker because of it. */
  queued: number;
};

/** The result that a delivery would have now. */
export type Forecast = Omit<ImportedDelivery, 'id' | 'queued'> & {
  /** Of the original, where there is one already. */
  id?: string;
  /** Leads of its events that are worked on, those that came before among them, as far as the lead directory knows. */
  leads: number;
  /** Events that count from the import, for they do not say when they happened so that it can be read. */
  undated: number;
};

/** Brings in what partners sent in vain. Each part is documented where it stands. */
export type ReceiptImporter = ReturnType<typeof createImporter>;

export function createImporter(target: ImportTarget) {
  return {
    partners: target.partners,
    check: (file: ImportedFile, onRead?: (deliveries: number) => void) =>
      checkFile(target, file, onRead),
    import: (file: ImportedFile, how: { deliveries: number; origin: Origin }) =>
      importFile(target, file, how),
    preview: (file: ImportedFile) => previewFile(target, file),
  };
}

/** Reads all of the file, and returns how many deliveries it holds. @throws {UnreadableText} */
async function checkFile(
  { bytesMax }: ImportTarget,
  { open, partner }: ImportedFile,
  onRead: (deliveries: number) => void = () => undefined,
): Promise<number> {
  let deliveries = 0;
  for await (const text of readTexts(open, bytesMax)) {
    try {
      readDelivery(text.bytes, partner.fields);
    } catch (error) {
      refuseText(text, error);
    }
    deliveries += 1;
    onRead(deliveries);
    if (deliveries % DELIVERIES_PER_TURN === 0) await setImmediate();
  }
  return deliveries;
}

/** So that Ctrl-C, and whoever else waits, gets a turn. */
const DELIVERIES_PER_TURN = 100;

/**
 * Accepts a file of so many deliveries as if the partner sent them, one after the other, but that events count from when
 * they happened. What was interrupted is begun anew: what was taken is a repeat then.
 * @throws {UnreadableText} the file has changed since it was checked @throws {store-unavailable}
 */
async function* importFile(
  target: ImportTarget,
  file: ImportedFile,
  { deliveries, origin }: { deliveries: number; origin: Origin },
): AsyncGenerator<ImportedDelivery> {
  const { partner, path } = file;
  const subject = `partner/${partner.id}` as const;
  const entry = { ...origin, at: target.clock.now(), action: 'receipt.import' as const, subject };
  await target.db.transaction(async (tx) =>
    appendAudit(tx, { ...entry, changes: { path, deliveries } }),
  );
  for await (const group of groupsOf(target, file)) {
    const startedAt = target.clock.monotonicMs();
    const accepted = await Promise.all(group.map(({ receipt }) => target.writeReceipt(receipt)));
    for (const [at, { text }] of group.entries())
      yield toImported(text, accepted[at] as Acceptance);
    // Half of the time the store is for the service that runs beside it.
    await target.clock.sleep(target.clock.monotonicMs() - startedAt);
  }
}

function toImported(
  { number }: FileText,
  { receipt: { id }, kind, written, queued }: Acceptance,
): ImportedDelivery {
  return { line: number, id, repeat: kind === 'repeat', outcomes: outcomesOf(written), queued };
}

function outcomesOf(events: readonly NewEvent[]): Outcomes {
  const counts: Outcomes = {};
  for (const { outcome } of events) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

/** Of more events it is not remembered that they stand in the file twice. */
const KEYS_REMEMBERED_MAX = 1_000_000;

/** Forecasts of the deliveries, as the store is now. Changes nothing. @throws {store-unavailable} */
async function* previewFile(target: ImportTarget, file: ImportedFile): AsyncGenerator<Forecast> {
  const inFile = new Set<string>();
  for await (const group of groupsOf(target, file)) {
    const { before, directory } = await lookUp(target, group);
    for (const { text, receipt } of group) {
      const written = receipt.events.filter((event) => {
        const key = event.sameEventKey.toString('latin1', 0, 16);
        const isKnown = before.has(event) || inFile.has(key);
        if (inFile.size < KEYS_REMEMBERED_MAX) inFile.add(key);
        return !isKnown;
      });
      const isAgain = (event: NewEvent): boolean => {
        const same = before.get(event);
        return same !== undefined && effectOfRepeat(event, same.outcome) !== 'nothing';
      };
      const worked = receipt.events.filter((event) => written.includes(event) || isAgain(event));
      const leadsOf = (event: NewEvent): readonly number[] =>
        leadsNamed(directory, event, timesOf(event, receipt, before.get(event)));
      const leads = new Set(worked.flatMap(leadsOf));
      const [first] = receipt.events;
      const repeat = first !== undefined && written.length === 0;
      yield {
        line: text.number,
        ...(repeat && { id: before.get(first)?.receiptId }),
        repeat,
        outcomes: outcomesOf(written),
        leads: leads.size,
        undated: worked.filter(isUndated).length,
      };
    }
  }
}

/** A lead that is named by its number is taken whenever it was created. */
function isUndated({ createdBefore, names }: NewEvent): boolean {
  return createdBefore === undefined && names.some(({ kind }) => kind !== 'lead-id');
}

function lookUp({ db, repository }: ImportTarget, group: Group) {
  const events = group.flatMap(({ receipt }) => receipt.events);
  const names = events.flatMap((event) => event.names);
  return db.transaction(async (tx) => {
    const { before } = await findKnown(tx, events);
    return { before, directory: await readDirectoryView(tx, repository, names) };
  });
}

/** Deliveries that share a transaction: it must be short. */
type Group = readonly { text: FileText; receipt: NewReceipt }[];
const EVENTS_PER_GROUP = 100;
const BYTES_PER_GROUP = 1024 * 1024;

async function* groupsOf(
  target: ImportTarget,
  { open, partner, path }: ImportedFile,
): AsyncGenerator<Group> {
  let group: Group = [];
  for await (const text of readTexts(open, target.bytesMax)) {
    const delivery = { partner, path, body: text.bytes, isImported: true } as const;
    const receipt = await toReceipt({ ...target, readDelivery }, delivery).catch((error: unknown) =>
      refuseText(text, error),
    );
    group = [...group, { text, receipt }];
    if (!isFull(group)) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

function isFull(group: Group): boolean {
  const sum = (sizeOf: (one: Group[number]) => number) =>
    group.reduce((total, one) => total + sizeOf(one), 0);
  return (
    sum(({ receipt }) => Math.max(1, receipt.events.length)) >= EVENTS_PER_GROUP ||
    sum(({ text }) => text.bytes.length) >= BYTES_PER_GROUP
  );
}
