import type { Command } from 'commander';
import { parseLeadId } from '#leads/model/identity.ts';
import { type Outcome, outcomes, receiptStatuses } from '#partners/receipts/receipt.ts';
import type { ReceiptFilter } from '#partners/receipts/receipt-store.ts';
import type { Receipts } from '#partners/receipts/receipts.ts';
import {
  type ActionOf,
  type Open,
  printJson,
  type Register,
  type Task,
  UsageError,
} from '../../command.ts';
import { instantOption, numberOption } from '../../option-values.ts';
import { renderReceipt, renderReceipts, renderReplayed } from './receipt-text.ts';

/** What the `receipt` commands work on. */
export type ReceiptServices = { receipts: Receipts };

type FilterOptions = Partial<
  Record<Exclude<keyof ReceiptFilter, 'partnerId' | 'isAcknowledged'> | 'partner', string>
>;
type ListOptions = FilterOptions & { limit?: string; cursor?: string };
type ReplayOptions = FilterOptions & { all?: true };
type ReceiptTask<Options = unknown> = Task<ReceiptServices, Options>;
type Action = ActionOf<ReceiptServices>;

const LIMIT_DEFAULT = '50';

/** Adds `receipt list`, `show` and `replay`. */
export const registerReceipt: Register<{ receipt: Open<ReceiptServices> }> = (
  parent,
  { actionOf, services },
) => {
  const action = actionOf(services.receipt);
  registerList(parent, action);
  parent
    .command('show <id>')
    .description('show a receipt with what became of each event')
    .action(action((task) => showReceipt(task)));
  addFilterOptions(parent.command('replay [id]'))
    .description('have events that ended UNMATCHED or FAILED worked again')
    .option('--all', 'those of every receipt, when no other filter is given')
    .action(action<ReplayOptions>((task) => replay(task)));
};

function registerList(parent: Command, action: Action): void {
  addFilterOptions(parent.command('list'))
    .description('list receipts, newest first')
    .option('--limit <number>', '1 to 100', LIMIT_DEFAULT)
    .option('--cursor <cursor>', 'where the page before it ended')
    .action(action<ListOptions>((task) => showList(task)));
}

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

async function showList(task: ReceiptTask<ListOptions>): Promise<void> {
  const { services, terminal, isJson, options } = task;
  const { items, pagination } = await services.receipts.list({
    filter: toFilter(options),
    limit: numberOption('--limit', options.limit ?? LIMIT_DEFAULT),
    cursor: options.cursor,
  });
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

async function showReceipt({ services, terminal, isJson, args }: ReceiptTask): Promise<void> {
  const receipt = await services.receipts.read(args[0] ?? '');
  if (isJson) return printJson(terminal, receipt);
  return terminal.print(renderReceipt(receipt, terminal.hasColour));
}

async function replay(task: ReceiptTask<ReplayOptions>): Promise<void> {
  const { services, actor, terminal, isJson, args, options } = task;
  const filter = toFilter(options);
  const [id] = args;
  const isFiltered = Object.keys(filter).length > 0;
  if (Number(id !== undefined) + Number(isFiltered) + Number(options.all === true) !== 1)
    throw new UsageError('Give either the id of a receipt, or filters, or --all.');
  const replayed =
    id === undefined
      ? await services.receipts.replayAll(filter, { actor })
      : await services.receipts.replay(id, { actor });
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
