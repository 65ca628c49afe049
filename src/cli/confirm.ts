import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';

import { CommandFailure, type Terminal } from './command.ts';

/**
 * Asks a person to confirm what cannot be undone, and returns when the reply is yes. Where nobody
 * can reply, as in a script, it returns at once.
 * @throws {CommandFailure} for any other reply
 */
export async function confirm(terminal: Pick<Terminal, 'ask'>, question: string): Promise<void> {
  if (terminal.ask === undefined) return;
  const reply = await terminal.ask(`${question} [y/N] `);
  if (!/^(?:y|yes)$/i.test(reply.trim())) throw new CommandFailure('Nothing was changed.');
}

/**
 * Writes the question and resolves with the next line of input, `''` when the input ends. Without line
 * editing of our own, so that Ctrl-C ends the program as it always does.
 */
export async function askLine(
  { input, output }: { input: Readable; output: Writable },
  question: string,
): Promise<string> {
  output.write(question);
  const { createInterface } = await import('node:readline'); // hardly any command asks
  const lines = createInterface({ input, terminal: false });
  const typed = once(lines, 'line').then(([line]) => String(line));
  const ended = once(lines, 'close').then(() => undefined);
  const reply = await Promise.race([typed, ended]);
  lines.close();
  if (reply === undefined) output.write('\n');
  return reply ?? '';
}
