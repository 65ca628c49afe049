import type { Command } from 'commander';
import type { Consumer } from '#access/consumers/consumer.ts';
import {
  type ConsumerOut,
  toConsumerOut,
  toCreatedConsumerOut,
  toNewKeyOut,
} from '#access/consumers/consumer-out.ts';
import type { Origin } from '#shared/audit.ts';
import type { UpdateConsumerInput } from '#access/consumers/manage-consumers.ts';
import type { ConsumerWithKey } from '#access/keys/key-rules.ts';
import type { GrantInput } from '#access/grant.ts';
import {
  confirm,
  durationOption,
  expiresOption,
  numberOption,
  printJson,
  readAll,
  type Register,
  type RunContext,
  type Task,
  UsageError,
} from '../command.ts';
import { withAccess } from '../with-store.ts';
import { printable } from '../table.ts';
import { renderConsumer, renderConsumers, renderGrants } from './consumer-text.ts';

type Action = RunContext['action'];

/** Adds `consumer create`, `list`, `show`, `update`, `grant`, `add-key`, `rotate` and `revoke`. */
export const registerConsumer: Register = (parent, { action }) => {
  registerCreate(parent, action);
  registerReads(parent, action);
  registerChanges(parent, action);
  registerKeys(parent, action);
};

function registerCreate(parent: Command, action: Action): void {
  type Options = GrantOptions & { expires?: string; limit?: string; force?: true };
  addGrantOptions(parent.command('create <name>'))
    .description('create a consumer and show its key, once')
    .option('--expires <when>', 'when the key expires: 30d, or 2027-01-31 in UTC (default: never)')
    .option('--limit <number>', 'calls per minute (default: the configuration’s)')
    .option('--force', 'take the name even when another consumer has it')
    .action(
      action<Options>(async (task) => {
        const { expires, limit, force = false } = task.options;
        const input = {
          name: firstArgument(task),
          force,
          grants: toGrantInputs(task.options),
          ...(expires !== undefined && { expiresInMs: expiresOption(expires, task.clock.now()) }),
          ...(limit !== undefined && { limitPerMinute: numberOption('--limit', limit) }),
        };
        await withAccess(
          task,
          async ({ consumers }) =>
            printCreated(task, await consumers.create(input, originOf(task))),
          { mustExist: false },
        );
      }),
    );
}

function registerReads(parent: Command, action: Action): void {
  parent
    .command('list')
    .description('list all consumers, oldest first')
    .action(
      action(async (task) => {
        const found = await withAccess(task, ({ consumers }) =>
          readAll((page) => consumers.page(page)),
        );
        const items = found.map((consumer) => toOut(task, consumer));
        if (task.isJson) printJson(task.terminal, { items, pagination: { hasMore: false } });
        else task.terminal.print(renderConsumers(items, task.terminal.hasColour));
      }),
    );
  parent
    .command('show <id>')
    .description('show a consumer with its grants and keys')
    .action(
      action(async (task) => {
        const id = firstArgument(task);
        printConsumer(task, await withAccess(task, ({ consumers }) => consumers.read(id)));
      }),
    );
}

function registerChanges(parent: Command, action: Action): void {
  addGrantOptions(parent.command('grant <id>'))
    .description('replace all grants of a consumer; without --grant it has none any more')
    .action(
      action<GrantOptions>(async (task) => {
        const input = { id: firstArgument(task), grants: toGrantInputs(task.options) };
        const consumer = await withAccess(task, ({ consumers }) =>
          consumers.replaceGrants(input, originOf(task)),
        );
        printConsumer(task, consumer);
      }),
    );
  parent
    .command('update <id>')
    .description('change a consumer’s name, limit or state')
    .option('--name <name>', 'what people call it')
    .option('--force', 'take the name even when another consumer has it')
    .option('--limit <number>', 'calls per minute, or "default"')
    .option('--state <state>', '"disabled" refuses its keys until it is "active" again')
    .action(
      action<UpdateOptions>(async (task) => {
        const input = { id: firstArgument(task), patch: toPatch(task.options) };
        const consumer = await withAccess(task, ({ consumers }) =>
          consumers.update(input, originOf(task)),
        );
        printConsumer(task, consumer);
      }),
    );
}

function registerKeys(parent: Command, action: Action): void {
  parent
    .command('add-key <id>')
    .description('make one more key for a consumer and show it, once')
    .option('--expires <when>', 'when the key expires: 30d, or 2027-01-31 in UTC (default: never)')
    .action(
      action<{ expires?: string }>(async (task) => {
        const { expires } = task.options;
        const input = {
          id: firstArgument(task),
          ...(expires !== undefined && { expiresInMs: expiresOption(expires, task.clock.now()) }),
        };
        await withAccess(task, async ({ keys }) =>
          printKey(task, await keys.add(input, originOf(task))),
        );
      }),
    );
  parent
    .command('rotate <id>')
    .description('make a new key in place of an old one and show it, once')
    .option('--key <keyId>', 'which key (default: the only one that can be rotated)')
    .option('--overlap <duration>', 'how long the old key stays good, 0s to 30d (default: 24h)')
    .action(
      action<{ key?: string; overlap?: string }>(async (task) => {
        const { key, overlap } = task.options;
        const input = {
          id: firstArgument(task),
          keyId: key,
          ...(overlap !== undefined && { overlapMs: durationOption('--overlap', overlap) }),
        };
        await withAccess(task, async ({ keys }) =>
          printKey(task, await keys.rotate(input, originOf(task))),
        );
      }),
    );
  parent
    .command('revoke <id>')
    .description('revoke one key, or the consumer with all its keys, at once and for good')
    .option('--key <keyId>', 'only this key')
    .option('--yes', 'do not ask, as in a script')
    .action(
      action<{ key?: string; yes?: true }>(async (task) => {
        const id = firstArgument(task);
        const { key, yes } = task.options;
        const consumer = await withAccess(task, async ({ consumers, keys }) => {
          if (yes !== true) await confirmRevocation(task, await consumers.read(id), key);
          return key === undefined
            ? consumers.revoke({ id }, originOf(task))
            : keys.revoke({ id, keyId: key }, originOf(task));
        });
        printConsumer(task, consumer);
      }),
    );
}

/** No question about what is revoked already, or not there: nothing will change. */
async function confirmRevocation(task: Task, found: Consumer, keyId?: string): Promise<void> {
  const { name, state, keys } = toOut(task, found);
  const active = keys.filter((key) => key.state === 'active').length;
  const isOpen =
    keyId === undefined
      ? state !== 'revoked'
      : keys.some((key) => key.keyId === keyId && key.state !== 'revoked');
  if (!isOpen) return;
  const consumer = `consumer "${printable(name)}"`;
  const what =
    keyId === undefined
      ? `${consumer} with all its keys (${active} active)`
      : `key ${keyId} of ${consumer}`;
  await confirm(task.terminal, `Revoke ${what}, at once and for good?`);
}

function originOf({ actor }: Task): Origin {
  return { actor };
}

function firstArgument({ args }: Task): string {
  return args[0] ?? '';
}

type UpdateOptions = { name?: string; force?: true; limit?: string; state?: string };

function toPatch(options: UpdateOptions): UpdateConsumerInput {
  const { name, force = false, limit, state } = options;
  if (name === undefined && limit === undefined && state === undefined)
    throw new UsageError('Give at least one of --name, --limit and --state.');
  if (state !== undefined && state !== 'active' && state !== 'disabled')
    throw new UsageError(`--state is active or disabled, not "${state}"`);
  return {
    ...(name !== undefined && { name, force }),
    ...(limit !== undefined && { limitPerMinute: toLimit(limit) }),
    ...(state !== undefined && { state }),
  };
}

function toLimit(text: string): number | null {
  return text === 'default' ? null : numberOption('--limit', text);
}

function toOut({ clock }: Task, consumer: Consumer): ConsumerOut {
  return toConsumerOut(consumer, clock.now());
}

function printConsumer(task: Task, consumer: Consumer): void {
  const out = toOut(task, consumer);
  if (task.isJson) printJson(task.terminal, out);
  else task.terminal.print(renderConsumer(out, task.terminal.hasColour));
}

// A key is shown before the store is closed, which may fail: it cannot be read again.

function printCreated(task: Task, created: ConsumerWithKey): void {
  if (task.isJson) return printJson(task.terminal, toCreatedConsumerOut(created));
  const { id, grants } = created.consumer;
  task.terminal.print(`id      ${id}`);
  task.terminal.print(`grants  ${renderGrants(grants)}`);
  task.terminal.print(`key     ${created.issued.key.reveal()}`);
  noteShownOnce(task);
  if (grants.length === 0)
    task.terminal.note(
      `It may do nothing yet. To let it read: trackport consumer grant ${id} --grant leads:read`,
    );
}

function printKey(task: Task, made: ConsumerWithKey): void {
  const out = toNewKeyOut(made);
  if (task.isJson) return printJson(task.terminal, out);
  task.terminal.print(out.key);
  noteShownOnce(task);
}

function noteShownOnce({ terminal }: Task): void {
  terminal.note('Keep this key in a safe place now: it is shown once and cannot be read again.');
}

type GrantOptions = { grant?: string[]; label?: string[]; workspace?: string };

/** Adds `--grant`, `--label` and `--workspace`. There is one grant per action, so each says whose it is. */
function addGrantOptions(command: Command): Command {
  const collect = (text: string, before: string[] = []): string[] => [...before, text];
  return command
    .option(
      '--grant <action>',
      'what the consumer may do, repeatable: leads:read, catalog:read',
      collect,
    )
    .option(
      '--label <name>',
      'of leads:read: only leads with this label (repeatable: with all)',
      collect,
    )
    .option('--workspace <name>', 'of catalog:read: the workspace whose catalog it reads');
}

/** The grants that the options name. @throws UsageError for a label or a workspace without its grant */
function toGrantInputs({ grant = [], label, workspace }: GrantOptions): GrantInput[] {
  if (label !== undefined && !grant.includes('leads:read'))
    throw new UsageError('--label needs --grant leads:read');
  if (workspace !== undefined && !grant.includes('catalog:read'))
    throw new UsageError('--workspace needs --grant catalog:read');
  if (workspace === undefined && grant.includes('catalog:read'))
    throw new UsageError('--grant catalog:read needs --workspace, such as --workspace default');
  return grant.map((action) => ({
    action,
    ...(action === 'leads:read' && label !== undefined && { labels: label }),
    ...(action === 'catalog:read' && workspace !== undefined && { workspace }),
  }));
}
