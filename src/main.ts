import { styleText } from 'node:util';

import { runCli } from '#cli/cli.ts';
import { CommandFailure, UsageError, type Terminal } from '#cli/command.ts';
import { readEnvironment } from '#config/load.ts';
import { ConfigError } from '#config/problems.ts';
import { systemClock } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import { errorFields } from '#shared/log.ts';

import packageFile from '../package.json' with { type: 'json' };
import { createServices } from './compose/services.ts';
import { StartError } from './compose/start-error.ts';

const EXIT_FAILED = 1;
const EXIT_MISCONFIGURED = 2;

/**
 * The whole program: runs one command line and ends the process. Exit code 0 when it did its work,
 * 2 for a wrong configuration or command line, 1 for every other failure.
 */
export async function run(argv: readonly string[]): Promise<void> {
  const terminal = createTerminal();
  endQuietlyWithoutReader();
  dieWithoutSecrets(terminal);
  const environment = readEnvironment();
  try {
    await runCli(argv, {
      version: packageFile.version,
      environment,
      terminal,
      clock: systemClock,
      services: createServices(systemClock, environment),
    });
    await exit(0);
  } catch (error) {
    if (error instanceof ConfigError && argv.includes('--json'))
      terminal.print(JSON.stringify({ problems: error.problems }, null, 2));
    const { text, exitCode } = explain(error);
    if (text !== '') terminal.note(text);
    await exit(exitCode);
  }
}

/** A pipe takes what it can and the rest later: ending at once would cut a long result. */
async function exit(code: number): Promise<void> {
  for (const stream of [process.stdout, process.stderr])
    await new Promise<void>((resolve) => void stream.write('', () => resolve()));
  process.exit(code);
}

function explain(error: unknown): { text: string; exitCode: number } {
  if (error instanceof UsageError || error instanceof ConfigError)
    return { text: error.message, exitCode: EXIT_MISCONFIGURED };
  if (error instanceof StartError || error instanceof CommandFailure)
    return { text: error.message, exitCode: EXIT_FAILED };
  if (isTrackportError(error)) {
    const isMistake = error.code === 'validation-failed';
    const text = error.detail ?? error.code;
    return { text, exitCode: isMistake ? EXIT_MISCONFIGURED : EXIT_FAILED };
  }
  return { text: describeBug(error), exitCode: EXIT_FAILED };
}

/** Names and places only: messages of unexpected errors can hold anything. */
function describeBug(error: unknown): string {
  const frames = error instanceof Error ? (error.stack ?? '').split('\n') : [];
  const places = frames.filter((frame) => frame.startsWith('    at '));
  return [`Unexpected failure: ${String(errorFields(error)['error'])}`, ...places].join('\n');
}

function createTerminal(): Terminal {
  return {
    print: (text) => void process.stdout.write(`${text}\n`),
    note: (text) => void process.stderr.write(`${text}\n`),
    // styleText decides by the stream and by NO_COLOR and FORCE_COLOR.
    colour: styleText('bold', 'x', { stream: process.stdout }) !== 'x',
    interactive: process.stderr.isTTY,
  };
}

/** `trackport … | head` is no failure. */
function endQuietlyWithoutReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : EXIT_FAILED);
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
