import { renderFailure, toFailure } from '#cli/cli.ts';
import { systemClock as clock } from '#shared/clock.ts';
import { runCommand } from '../../support/command.ts';

type End = { code: number; stdout: string; stderr: string };

/** Runs a command to its end as the program does, in this process: a fraction of the work that starting one is. */
export async function runHere(
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<End> {
  const output = { out: '', notes: '' };
  let code = 0;
  try {
    await runCommand(args, { clock, environment, output });
  } catch (error) {
    const failure = toFailure(error);
    code = failure.exitCode;
    output.notes += `${renderFailure(failure, { isJson: args.includes('--json') })}\n`;
  }
  return { code, stdout: output.out, stderr: output.notes };
}
