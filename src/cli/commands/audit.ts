import type { AuditEntryOut, AuditFilter } from '#access/audit-log.ts';
import { auditActions } from '#shared/audit.ts';
import {
  instantOption,
  numberOption,
  printJson,
  type Register,
  type Task,
  UsageError,
} from '../command.ts';
import { withAccess } from '../with-store.ts';
import { NONE, printable, renderTable } from '../table.ts';

type FilterOptions = Partial<Record<keyof AuditFilter, string>>;
type ListOptions = FilterOptions & { limit?: string; cursor?: string };

const LIMIT_DEFAULT = '50';
const LIMIT_MAX = 100;

/** Adds `audit list`. */
export const registerAudit: Register = (parent, { action }) => {
  parent
    .command('list')
    .description('list who did what, newest first')
    .option('--actor <subject>', 'only what this user of the command line, or token, did')
    .option('--action <action>', `only this: ${auditActions.join(', ')}`)
    .option('--subject <subject>', 'only to this, such as consumer/ID or claim/NUMBER')
    .option('--since <time>', 'done then or later: a date, or a date and time with its zone')
    .option('--limit <number>', `1 to ${LIMIT_MAX}`, LIMIT_DEFAULT)
    .option('--cursor <cursor>', 'where the page before it ended')
    .action(action(showList));
};

async function showList(task: Task<ListOptions>): Promise<void> {
  const { terminal, isJson, options } = task;
  const { cursor } = options;
  const filter = toFilter(options);
  const limit = toLimit(options.limit ?? LIMIT_DEFAULT);
  const { items, pagination } = await withAccess(task, (access) =>
    access.listAudit({ filter, limit, cursor }),
  );
  if (isJson) return printJson(terminal, { items, pagination });
  terminal.print(renderEntries(items));
  if (pagination.nextCursor !== undefined)
    terminal.note(`There are more. Go on with: --cursor ${pagination.nextCursor}`);
  return undefined;
}

function renderEntries(entries: readonly AuditEntryOut[]): string {
  return renderTable(
    ['when', 'who', 'did', 'to', 'changes', 'request'],
    entries.map(({ at, actor, action, subject, changes, requestId }) => [
      at,
      printable(`${actor.subject} (${actor.kind})`),
      action,
      printable(subject),
      changes === undefined ? NONE : printable(JSON.stringify(changes)),
      requestId ?? NONE,
    ]),
    'Nothing of the kind was done.',
  );
}

function toFilter({ actor, action, subject, since }: FilterOptions): AuditFilter {
  return {
    actor,
    ...(action !== undefined && { action: toAction(action) }),
    subject,
    ...(since !== undefined && { since: instantOption('--since', since) }),
  };
}

function toAction(text: string) {
  const found = auditActions.find((action) => action === text);
  if (found !== undefined) return found;
  throw new UsageError(`--action is one of ${auditActions.join(', ')}, not "${text}"`);
}

function toLimit(text: string): number {
  const limit = numberOption('--limit', text);
  if (limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new UsageError(`--limit is 1 to ${LIMIT_MAX}, not "${text}"`);
}
