import type { SqliteDatabase } from '#adapters/sqlite/database.ts';
import { runCli } from '#cli/cli.ts';
import type { Terminal } from '#cli/command.ts';
import type { Environment } from '#config/environment.ts';
import type { Clock } from '#shared/clock.ts';
import { REPOSITORY } from './directory.ts';
import { logOutputTo } from './log-output.ts';

/** Output of a command, and what it has noted beside that. */
export type Output = { out: string; notes: string };

type Host = {
  clock: Clock;
  /** Default: nothing is set. */
  environment?: Environment;
  hasColour?: boolean;
  isInteractive?: boolean;
  /** A person at the terminal, who gets the question. Default: nobody. */
  ask?: (question: string) => string;
  /** Gets the text also when the command fails; default: a new one. */
  output?: Output;
};

/** Runs a command line in this process; what the command throws is thrown. */
export async function runCommand(argv: readonly string[], host: Host): Promise<Output> {
  const { clock, environment = {}, output = { out: '', notes: '' } } = host;
  const terminal = terminalTo(output, host);
  await runCli(argv, {
    terminal,
    clock,
    environment,
    logOutput: logOutputTo((line) => terminal.print(line)),
  });
  return output;
}

export function terminalTo(
  output: Output,
  { hasColour = false, isInteractive = false, ask }: Partial<Host> = {},
): Terminal {
  return {
    print: (text) => void (output.out += `${text}\n`),
    note: (text) => void (output.notes += `${text}\n`),
    hasColour,
    isInteractive,
    ...(ask && { ask: async (question: string) => ask(question) }),
  };
}

/** The environment of commands on a store that is a file. */
export function environmentOf({ handle }: SqliteDatabase): Environment {
  return {
    TRACKPORT_TRACKER_REPOSITORY: REPOSITORY,
    TRACKPORT_TRACKER_AUTH_TOKEN: 'none',
    TRACKPORT_STORE_URL: `sqlite:${handle.name}`,
  };
}
