import { renderFailure, runCli, toFailure } from '#cli/cli.ts';
import { systemClock as clock } from '#shared/clock.ts';
import { VERSION_AND_COMMIT as version } from '#shared/program.ts';
import { createCommands } from '../../../src/command-table.ts';
import { logOutputTo } from '../../support/log-output.ts';

type End = { code: number; stdout: string; stderr: string };

/** Runs a command to its end as the program does, in this process: a fraction of the work that starting one is. */
export async function runHere(
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<End> {
  const end = { code: 0, stdout: '', stderr: '' };
  const terminal = {
    print: (text: string) => void (end.stdout += `${text}\n`),
    note: (text: string) => void (end.stderr += `${text}\n`),
    hasColour: false,
    isInteractive: false,
  };
  const logOutput = logOutputTo(terminal.print);
  const commands = createCommands({ clock, environment, logOutput });
  try {
    await runCli(args, { version, environment, terminal, clock, commands });
  } catch (error) {
    const failure = toFailure(error);
    end.code = failure.exitCode;
    terminal.note(renderFailure(failure, { isJson: args.includes('--json') }));
  }
  return end;
}
