import { type Command, Option } from 'commander';

import type { ImportWork } from '#catalog/import/import-draft.ts';

import { UsageError } from '../../command.ts';
import type { ServerOptions } from './server-options.ts';

export type ImportOptions = ServerOptions & {
  workspace?: string;
  dryRun?: boolean;
  check?: boolean;
  publish?: boolean;
  exclude?: string[];
  breaking?: 'accept';
  format?: 'text' | 'github';
};

/** What is to be done, and how it is shown. */
export type ImportPlan = {
  work: ImportWork;
  workspaceId: string;
  acceptsBreaking: boolean;
  format: 'text' | 'json' | 'github';
};

const WORKSPACE = /^[\x21-\x7e]{1,200}$/;

/** Gives a command the options of an import. */
export function addImportOptions(command: Command): Command {
  return command
    .option('--workspace <name>', 'the workspace to import into (default: "default")')
    .option(
      '--exclude <glob>',
      'leave out what matches below the folder, such as "parts/**"; can be repeated',
      (glob: string, former: string[] | undefined) => [...(former ?? []), glob],
    )
    .option('--dry-run', 'say what would be done and change nothing')
    .option(
      '--check',
      'say what publishing would find and change nothing; exit 1 when it finds any',
    )
    .option('--publish', 'publish what is imported')
    .addOption(
      new Option(
        '--breaking <what>',
        'with --publish, --check: breaking changes are remarks only',
      ).choices(['accept']),
    )
    .addOption(
      new Option('--format <format>', 'github: annotations of a workflow').choices([
        'text',
        'github',
      ]),
    )
    .option('--server <url>', 'import into this server by HTTP, in place of the store at hand')
    .option('--token <token>', 'a bearer token for it; better in the variable TRACKPORT_TOKEN')
    .option('--issuer <url>', 'where a token can be had, with --client-id')
    .option('--client-id <id>', 'its secret is in the variable TRACKPORT_CLIENT_SECRET')
    .option('--scope <scopes>', 'the scopes of that token (default: those that are needed)')
    .option('--audience <audience>', 'what that token is for, where the issuer wants to be told')
    .option('--allow-http', 'send tokens and secrets over plain http also to other machines');
}

/** @throws {UsageError} for what does not go together */
export function readImportPlan(options: ImportOptions, isJson: boolean): ImportPlan {
  const { workspace = 'default', server } = options;
  if (server !== undefined && options.workspace !== undefined)
    throw new UsageError(
      '--workspace does not go with --server: there the token says which workspace it is.',
    );
  if (!WORKSPACE.test(workspace))
    throw new UsageError('--workspace has 1 to 200 visible ASCII characters.');
  const work = readWork(options);
  const acceptsBreaking = options.breaking === 'accept';
  if (acceptsBreaking && work !== 'publish' && work !== 'check')
    throw new UsageError('--breaking goes with --publish or --check.');
  if (isJson && options.format === 'github')
    throw new UsageError('Give either --json or --format github.');
  const format = isJson ? 'json' : (options.format ?? 'text');
  return { work, workspaceId: workspace, acceptsBreaking, format };
}

function readWork({ dryRun, check, publish }: ImportOptions): ImportWork {
  const given = [dryRun && '--dry-run', check && '--check', publish && '--publish'].filter(Boolean);
  if (given.length > 1)
    throw new UsageError(
      `Give one of ${given.join(' and ')}: --check says what --publish would find, --dry-run what would be imported.`,
    );
  if (dryRun === true) return 'plan';
  if (check === true) return 'check';
  return publish === true ? 'publish' : 'import';
}
