import { styleText } from 'node:util';
import { renderFailure, runCli, toFailure } from '#cli/cli.ts';
import { askLine, type Terminal } from '#cli/command.ts';
import { systemClock } from '#shared/clock.ts';
import { describeBug } from '#shared/log.ts';
import { createLogOutput, type LogOutput, READER_WAIT_MS } from '#adapters/pino/log.ts';
import { EXIT_FAILED } from '#compose/start-error.ts';

/**
 * The whole program: runs one command line and ends the process. Exit code 0 when it did its work, 2 for a wrong
 * command line or configuration and for a store that another program or service has (`StoreRefusal`), 1 for every
 * other failure, also where no later try can succeed.
 */
export async function run(argv: readonly string[]): Promise<void> {
  const terminal = createTerminal();
  const logOutput = createLogOutput(systemClock); // standard output, from a service's first line on
  endWithoutReader(terminal, logOutput);
  dieWithoutSecrets(terminal);
  process.on('SIGUSR1', () => undefined); // else Node opens its inspector to everybody on this machine
  try {
    // Loads and calls the command that `argv` names (`serve`: `cli/commands/serve.ts`), and waits for its end.
    await runCli(argv, { terminal, clock: systemClock, environment: process.env, logOutput });
    await exit(0, logOutput);
  } catch (error) {
    const failure = toFailure(error);
    const text = renderFailure(failure, { isJson: argv.includes('--json') });
    if (text !== '') terminal.note(text);
    await exit(failure.exitCode, logOutput);
  }
}

/**
 * A pipe takes what it can and the rest later: ending at once would cut a long result. Nobody waits
 * long for a service that has to stop, whether somebody reads what it says or not.
 */
async function exit(code: number, logOutput: LogOutput): Promise<void> {
  const written = Promise.all([process.stdout, process.stderr].map(untilWritten));
  if (!logOutput.isOpen()) await written;
  else {
    await logOutput.close(READER_WAIT_MS);
    await Promise.race([written, systemClock.sleep(READER_WAIT_MS)]);
  }
  process.exit(code);
}

function untilWritten(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => void stream.write('', () => resolve()));
}

function createTerminal(): Terminal {
  return {
    print: (text) => void process.stdout.write(`${text}\n`),
    note: (text) => void process.stderr.write(`${text}\n`),
    // styleText decides by the stream and by NO_COLOR and FORCE_COLOR.
    hasColour: styleText('bold', 'x', { stream: process.stdout }) !== 'x',
    isInteractive: process.stderr.isTTY,
    // In this order: a service whose log goes elsewhere has no use for its input.
    ...(process.stderr.isTTY &&
      process.stdin.isTTY && {
        ask: (question: string) =>
          askLine({ input: process.stdin, output: process.stderr }, question),
      }),
  };
}

/** `trackport … | head` is no failure; a full disk is one. A service goes on in either case. */
function endWithoutReader(terminal: Terminal, logOutput: LogOutput): void {
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (logOutput.isOpen()) return;
    if (code === 'EPIPE') process.exit(0);
    terminal.note(`The result cannot be written (${code}).`);
    process.exit(EXIT_FAILED);
  });
}

function dieWithoutSecrets(terminal: Terminal): void {
  const die = (error: unknown): void => {
    terminal.note(describeBug(error));
    process.exit(EXIT_FAILED);
  };
  process.on('uncaughtException', die);
  process.on('unhandledRejection', die);
}
