import { userInfo } from 'node:os';
import { Command, CommanderError } from 'commander';
import type { Program } from '#compose/service.ts';
import { StartError } from '#compose/start-error.ts';
import { loadConfig } from '#config/load.ts';
import { ConfigError } from '#config/problems.ts';
import type { Config } from '#config/schema/schema.ts';
import type { Actor } from '#shared/audit.ts';
import { isTrackportError } from '#shared/errors.ts';
import { describeBug } from '#shared/log.ts';
import { VERSION_AND_COMMIT } from '#shared/program.ts';
import {
  CommandFailure,
  type ConfigOptions,
  type Register,
  type RunContext,
  type Terminal,
  UsageError,
} from './command.ts';

/** The program and the machine that a command line runs on. */
export type CliHost = Program & { terminal: Terminal };

type CommandEntry = { name: string; summary: string; load: () => Promise<Register> };

/** Every command, in the order of the help. Its code is loaded when it is called. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'serve',
    summary: 'start the service; in a checkout, without --config, the sandbox',
    load: async () => (await import('./commands/serve.ts')).registerServe,
  },
  {
    name: 'sandbox',
    summary: 'start everything on this machine, with sample leads',
    load: async () => (await import('./commands/serve.ts')).registerSandbox,
  },
  {
    name: 'doctor',
    summary: 'check the configuration, the tracker and the store, and say what to fix',
    load: async () => (await import('./commands/doctor.ts')).registerDoctor,
  },
  {
    name: 'health',
    summary: 'ask the running service whether it is well: exit code 0 or 1',
    load: async () => (await import('./commands/health.ts')).registerHealth,
  },
  {
    name: 'migrate',
    summary: 'bring the store to the newest schema',
    load: async () => (await import('./commands/store.ts')).registerMigrate,
  },
  {
    name: 'backup',
    summary: 'copy the store into a file and check the copy, while the service runs, too',
    load: async () => (await import('./commands/store.ts')).registerBackup,
  },
  {
    name: 'restore',
    summary: 'put a backup in the place of an empty store that nobody has open',
    load: async () => (await import('./commands/store.ts')).registerRestore,
  },
  {
    name: 'store',
    summary: 'copy a stopped store to PostgreSQL, or go on where its key is lost',
    load: async () => (await import('./commands/store.ts')).registerStore,
  },
  {
    name: 'consumer',
    summary: 'manage consumers of leads, their grants and keys',
    load: async () => (await import('./commands/consumer.ts')).registerConsumer,
  },
  {
    name: 'receipt',
    summary: 'list what partners sent, show what became of it, replay, and verify certificates',
    load: async () => (await import('./commands/receipt.ts')).registerReceipt,
  },
  {
    name: 'claim',
    summary: 'show the leads that deletions have claimed, and release one',
    load: async () => (await import('./commands/claim.ts')).registerClaim,
  },
  {
    name: 'audit',
    summary: 'list who changed what, and when',
    load: async () => (await import('./commands/audit.ts')).registerAudit,
  },
  {
    name: 'sign',
    summary: 'sign a call as a partner would, to try it out',
    load: async () => (await import('./commands/sign.ts')).registerSign,
  },
  {
    name: 'catalog',
    summary: 'import API descriptions and artifacts from files',
    load: async () => (await import('./commands/catalog/catalog-import.ts')).registerCatalog,
  },
  {
    name: 'openapi',
    summary: 'print the description of the HTTP interface',
    load: async () => (await import('./commands/openapi.ts')).registerOpenApi,
  },
];

const COMPLETE = 'complete';
const COMPLETE_SUMMARY = 'print what completes commands in bash, zsh or fish';

const EXAMPLES = `
Examples:
  trackport sandbox
  trackport doctor --config trackport.yaml
  trackport serve --config trackport.yaml
  trackport consumer create "Sales tools" --grant leads:read \\
    --config trackport.yaml`;

/**
 * Runs one command. Resolves when its work is done.
 * @throws {UsageError} for a wrong command line, and whatever the command throws
 */
export async function runCli(argv: readonly string[], host: CliHost): Promise<void> {
  const isJson = argv.includes('--json');
  const program =
    argv[0] === COMPLETE ? await createWholeProgram(host) : createProgram(host, isJson);
  try {
    await program.parseAsync(withValuesJoined(withoutHelpCommand(argv)), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Without --json commander has said why.
    if (error.exitCode !== 0) throw new UsageError(isJson ? toText(error) : '');
  }
}

/**
 * `help NAME` as `NAME --help`: commander's own knows nothing of commands whose code is loaded when
 * they are called.
 */
function withoutHelpCommand(argv: readonly string[]): string[] {
  const [first, ...names] = argv;
  if (first !== 'help' || names.length === 0) return [...argv];
  return commands.some(({ name }) => name === names[0]) ? [...names, '--help'] : names;
}

/**
 * `--cursor=-Vx` for `--cursor -Vx`: the root looks at every argument before its command does, and would print the
 * version, since commander takes options of one letter together. Nothing else of ours has such options.
 */
function withValuesJoined(argv: readonly string[]): string[] {
  const joined: string[] = [];
  for (const [index, argument] of argv.entries()) {
    const before = joined.at(-1);
    if (argument === '--') return [...joined, ...argv.slice(index)];
    if (before && /^--[^=]+$/.test(before) && /^-[^-]./s.test(argument))
      joined.splice(-1, 1, `${before}=${argument}`);
    else joined.push(argument);
  }
  return joined;
}

/** Commander's refusal of a command line, in one line. */
function toText({ code, message }: CommanderError): string {
  if (code === 'commander.help') return 'A command is needed. See --help.';
  return message.replace(/^error: /, '').replaceAll('\n', ' ');
}

/** The code of a command is loaded when it is called. */
function createProgram(host: CliHost, isJson: boolean): Command {
  const program = createRoot(host, isJson);
  const context = createContext(host);
  for (const { name, summary } of commands) program.command(name).description(summary);
  program.command(COMPLETE).description(COMPLETE_SUMMARY);
  program.hook('preSubcommand', async (_program, command) => {
    const register = await commands.find(({ name }) => name === command.name())?.load();
    register?.(command, context);
  });
  return program;
}

/** With the code of all commands: for what a shell completes, and for `docs/cli.md`. */
export async function createWholeProgram(host: CliHost): Promise<Command> {
  const program = createRoot(host, false);
  const context = createContext(host);
  for (const { name, summary, load } of commands)
    (await load())(program.command(name).description(summary), context);
  const { default: addCompletion } = await import('@bomb.sh/tab/commander');
  addCompletion(program);
  program.commands.find((one) => one.name() === COMPLETE)?.description(COMPLETE_SUMMARY);
  return program;
}

/** Settings of every command: nothing below us exits or prints by itself. */
function createRoot({ terminal }: CliHost, isJson: boolean): Command {
  return new Command('trackport')
    .description('Leads from an issue tracker, deletions from partners, and a catalog.')
    .version(VERSION_AND_COMMIT)
    .option('--config <file>', 'the configuration file (default: the variable TRACKPORT_CONFIG)')
    .option('--json', 'print the result as one JSON document')
    .exitOverride()
    .showHelpAfterError('See --help.')
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', EXAMPLES)
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => isJson || terminal.note(text.trimEnd()),
    });
}

function createContext(host: CliHost): RunContext {
  const { environment, terminal, clock } = host;
  const configFile = (options: ConfigOptions): string | undefined =>
    options.config ?? (environment['TRACKPORT_CONFIG'] || undefined);
  const load = (options: ConfigOptions): Config =>
    loadConfig({ file: configFile(options), environment, port: options.port });
  return {
    ...host,
    configFile,
    loadConfig: load,
    action:
      (work) =>
      async (...received) => {
        const command = received.at(-1) as Command;
        const { args } = command;
        const given = command.optsWithGlobals<ConfigOptions>();
        const config = load(given);
        const isJson = given.json === true;
        const options = command.opts<never>();
        await work({ config, terminal, clock, actor: actorOfUser(), isJson, args, options });
      },
  };
}

function actorOfUser(): Actor {
  try {
    return { kind: 'cli', subject: userInfo().username };
  } catch {
    return { kind: 'cli', subject: 'unknown' };
  }
}

type Failure = {
  /** 2 for what no later try can change, such as a wrong configuration or command line; 1 for everything else. */
  exitCode: 1 | 2;
  /** Stable: `usage`, `invalid-configuration`, `failed`, `start-failed` or an error code of the API. */
  code: string;
  /** For people; empty when the result has said everything. */
  detail: string;
  /** Further members for programs: `errors`, `problems`, `allowed`, … */
  facts?: Readonly<Record<string, unknown>>;
};

/** The failure that an error thrown by a command stands for. Accepts anything. */
export function toFailure(error: unknown): Failure {
  if (error instanceof UsageError) return { exitCode: 2, code: 'usage', detail: error.message };
  if (error instanceof CommandFailure)
    return { exitCode: 1, code: 'failed', detail: error.message };
  if (error instanceof StartError)
    return { exitCode: error.exitCode, code: 'start-failed', detail: error.message };
  if (error instanceof ConfigError) {
    const { message: detail, problems } = error;
    return { exitCode: 2, code: 'invalid-configuration', detail, facts: { problems } };
  }
  if (!isTrackportError(error))
    return { exitCode: 1, code: 'internal-error', detail: describeBug(error) };
  const { code, detail = code, errors, extensions } = error;
  return {
    exitCode: code === 'validation-failed' ? 2 : 1,
    code,
    detail,
    ...((errors || extensions) && { facts: { ...extensions, ...(errors && { errors }) } }),
  };
}

/** Text for standard error, or with `--json` one JSON document. */
export function renderFailure(failure: Failure, { isJson }: { isJson: boolean }): string {
  const { code, detail, facts } = failure;
  if (!isJson || detail === '') return detail;
  return JSON.stringify({ error: { code, detail, ...facts } }, null, 2);
}
