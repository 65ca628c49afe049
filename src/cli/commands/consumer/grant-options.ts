import type { Command } from 'commander';
import type { GrantInput } from '#access/grants/grant.ts';
import { UsageError } from '../../command.ts';

/** What `addGrantOptions` yields. */
export type GrantOptions = { grant?: string[]; label?: string[]; workspace?: string };

/** Adds `--grant`, `--label` and `--workspace`. There is one grant per action, so each says whose it is. */
export function addGrantOptions(command: Command): Command {
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
export function toGrantInputs({ grant = [], label, workspace }: GrantOptions): GrantInput[] {
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
