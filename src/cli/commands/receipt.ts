import type { Command } from 'commander';
import { parseLeadId } from '#leads/model/identity.ts';
import type {
  NotQueuedReason,
  ReceiptDetailOut,
  ReceiptSummaryOut,
  Replayed,
} from '#partners/receipts/receipt-out.ts';
import type { ReceiptFilter } from '#partners/receipts/read-receipts.ts';
import { type Outcome, outcomes, receiptStatuses } from '#partners/receipts/receipt.ts';
import { eventOutcomes, notReplayed, receiptStates } from '#shared/outcomes/events.ts';
import { createReceipts, type Receipts } from '#partners/receipts/receipts.ts';
import {
  instantOption,
  numberOption,
  printJson,
  type Register,
  type Task,
  UsageError,
} from '../command.ts';
import { withStore } from '../with-store.ts';
import { NONE, printable, renderFacts, renderStanding, renderTable } from '../table.ts';
import { registerVerify } from './verify.ts';
import { importReceipts } from './receipt-import.ts';

type FilterOptions = Partial<
  Record<Exclude<keyof ReceiptFilter, 'partnerId' | 'isAcknowledged'> | 'partner', string>
>;
type ListOptions = FilterOptions & { limit?: string; cursor?: string };
type ReplayOptions = FilterOptions & { all?: true };

const LIMIT_DEFAULT = '50';

const FILE_HELP = `
FILE is a JSON array, of which each element is a delivery, or it has one JSON
text a line; a line that is an array is one batch. Nothing is taken of a file
with a line that cannot be read. What came before is a repeat: a file can be
imported again.`;

/** Adds `receipt list`, `show`, `replay`, `import` and `verify`. */
export const registerReceipt: Register = (parent, context) => {
  const { action } = context;
  addFilterOptions(parent.command('list'))
    .description('list receipts, newest first')
    .option('--limit <number>', '1 to 100', LIMIT_DEFAULT)
    .option('--cursor <cursor>', 'where the page before it ended')
    .action(action(showList));
  parent
    .command('show <id>')
    .description('show a receipt with what became of each event')
    .action(action(showReceipt));
  addFilterOptions(parent.command('replay [id]'))
    .description('have events that ended UNMATCHED or FAILED worked again')
    .option('--all', 'those of every receipt, when no other filter is given')
    .action(action(replay));
  parent
    .command('import <file>')
    .description('take what a partner sent in vain from a file, as if it sent it now')
    .requiredOption('--partner <id>', 'whose it is')
    .requiredOption('--path <path>', 'events or deletions')
    .option('--dry-run', 'say what would become of each delivery, and change nothing')
    .addHelpText('after', FILE_HELP)
    .action(action(importReceipts));
  registerVerify(parent, context);
};

function addFilterOptions(command: Command): Command {
  return command
    .option('--partner <id>', 'only of this partner')
    .option('--status <status>', receiptStatuses.join(', '))
    .option('--outcome <outcome>', `with an event that is ${outcomes.join(', ')}`)
    .option('--external-id <id>', 'with an event of this external id')
    .option('--event-id <id>', 'with an event of this id')
    .option('--correlation-id <id>', 'with this correlation id')
    .option('--lead-id <number>', 'with an event that matched this issue')
    .option('--since <time>', 'received then or later: a date, or a date and time with its zone');
}

function withReceipts<T>(task: Task, work: (receipts: Receipts) => Promise<T>): Promise<T> {
  return withStore(task, ({ database: db, cursors }) =>
    // The worker of a running service looks for due events by itself.
    work(createReceipts({ db, cursors, clock: task.clock, wakeWorker: () => undefined })),
  );
}

async function showList(task: Task<ListOptions>): Promise<void> {
  const { terminal, isJson, options } = task;
  const { cursor } = options;
  const filter = toFilter(options);
  const limit = numberOption('--limit', options.limit ?? LIMIT_DEFAULT);
  const { items, pagination } = await withReceipts(task, (receipts) =>
    receipts.list({ filter, limit, cursor }),
  );
  if (isJson) return printJson(terminal, { items, pagination });
  terminal.print(
    renderReceipts(items, { hasColour: terminal.hasColour, nothing: nothingFor(options) }),
  );
  if (pagination.nextCursor !== undefined)
    terminal.note(`There are more. Go on with: --cursor ${pagination.nextCursor}`);
}

function nothingFor(options: ListOptions): string {
  if (options.cursor !== undefined) return 'No more receipts.';
  if (Object.keys(toFilter(options)).length > 0) return 'No receipt is like that.';
  return 'No receipt yet: no partner has sent anything. To try a call: trackport sign --partner ID --curl --body TEXT';
}

async function showReceipt(task: Task): Promise<void> {
  const { terminal, isJson, args } = task;
  const receipt = await withReceipts(task, (receipts) => receipts.read(args[0] ?? ''));
  if (isJson) return printJson(terminal, receipt);
  return terminal.print(renderReceipt(receipt, terminal.hasColour));
}

async function replay(task: Task<ReplayOptions>): Promise<void> {
  const { actor, terminal, isJson, args, options } = task;
  const filter = toFilter(options);
  const [id] = args;
  const isFiltered = Object.keys(filter).length > 0;
  if (Number(id !== undefined) + Number(isFiltered) + Number(options.all === true) !== 1)
    throw new UsageError('Give either the id of a receipt, or filters, or --all.');
  const replayed = await withReceipts(task, (receipts) =>
    id === undefined ? receipts.replayAll(filter, { actor }) : receipts.replay(id, { actor }),
  );
  if (isJson) return printJson(terminal, replayed);
  return terminal.print(renderReplayed(replayed));
}

function toFilter(options: FilterOptions): ReceiptFilter {
  const { partner, status, outcome, externalId, eventId, correlationId, leadId, since } = options;
  return {
    ...(partner !== undefined && { partnerId: partner }),
    ...(status !== undefined && { status: oneOf('--status', receiptStatuses, status) }),
    ...(outcome !== undefined && { outcome: oneOf<Outcome>('--outcome', outcomes, outcome) }),
    ...(externalId !== undefined && { externalId }),
    ...(eventId !== undefined && { eventId }),
    ...(correlationId !== undefined && { correlationId }),
    ...(leadId !== undefined && { leadId: toLeadNumber(leadId) }),
    ...(since !== undefined && { since: instantOption('--since', since) }),
  };
}

function oneOf<T extends string>(option: string, allowed: readonly T[], given: string): T {
  const found = allowed.find((value) => value === given.toUpperCase());
  if (found === undefined)
    throw new UsageError(`${option} is one of ${allowed.join(', ')}, not "${given}"`);
  return found;
}

function toLeadNumber(text: string): number {
  const number = parseLeadId(text);
  if (number === undefined)
    throw new UsageError(`--lead-id takes the number of an issue such as 24, not "${text}"`);
  return number;
}

/** One line per receipt; `nothing` when there are none. */
function renderReceipts(
  receipts: readonly ReceiptSummaryOut[],
  { hasColour, nothing }: { hasColour: boolean; nothing: string },
): string {
  return renderTable(
    ['received', 'id', 'partner', 'event type', 'external id', 'status', 'outcomes'],
    receipts.map((receipt) => [
      receipt.receivedAt,
      receipt.id,
      receipt.partnerId,
      printable(receipt.eventType),
      printable(receipt.externalId ?? NONE),
      renderStanding(receipt.status, receiptStates, hasColour),
      renderCounts(receipt),
    ]),
    nothing,
  );
}

function renderCounts({ outcomes: counts }: ReceiptSummaryOut): string {
  const counted = outcomes.filter((outcome) => counts[outcome] !== undefined);
  return counted.map((outcome) => `${counts[outcome]} ${outcome}`).join(', ') || NONE;
}

/** A receipt with its events. */
function renderReceipt(receipt: ReceiptDetailOut, hasColour: boolean): string {
  const facts = [
    ['id', receipt.id],
    ['partner', receipt.partnerId],
    ['event type', printable(receipt.eventType)],
    ['external id', printable(receipt.externalId ?? NONE)],
    ['correlation id', printable(receipt.correlationId)],
    ['status', renderStanding(receipt.status, receiptStates, hasColour)],
    ['received', receipt.receivedAt],
  ] as const;
  const { repeats = [] } = receipt;
  const before = repeats.map(
    ({ position, receiptId }) => `\nPosition ${position} came before: see receipt ${receiptId}.`,
  );
  return `${renderFacts(facts)}\n\n${renderEvents(receipt, hasColour)}${before.join('')}`;
}

function renderEvents({ events }: ReceiptDetailOut, hasColour: boolean): string {
  return renderTable(
    [
      'event type',
      'event id',
      'external id',
      'looks by',
      'outcome',
      'erasure',
      'leads',
      'attempts',
      'why',
      'note',
      'completed',
    ],
    events.map((event) => [
      printable(event.eventType ?? NONE),
      printable(event.eventId ?? NONE),
      printable(event.externalId ?? NONE),
      event.names.join(' ') || NONE,
      renderStanding(event.outcome, eventOutcomes, hasColour),
      event.erasure ?? NONE,
      event.leadIds.length === 0 ? NONE : event.leadIds.join(' '),
      String(event.attempts),
      event.lastError ?? NONE,
      event.note ?? NONE,
      event.completedAt ?? NONE,
    ]),
    'No events: the batch was empty.',
  );
}

/** Counts the events that wait now, and says why the others do not. */
function renderReplayed({ queued, notQueued = {} }: Replayed): string {
  const reasons = Object.entries(notQueued).map(
    ([reason, count]) =>
      `${count === 1 ? '1 is' : `${count} are`} ${notReplayed[reason as NotQueuedReason]}`,
  );
  const why = reasons.join('; ');
  if (queued === 0) return `Nothing was queued: ${why || 'no event ended UNMATCHED or FAILED'}.`;
  const waiting = `${queued} ${queued === 1 ? 'event waits' : 'events wait'} for the worker.`;
  return why === '' ? waiting : `${waiting} Of the others ${why}.`;
}
