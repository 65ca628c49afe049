import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

import { CommandFailure, type Terminal } from './command.ts';

/**
 * Asks a person to confirm what cannot be undone, and returns when the answer is yes. Where nobody
 * can be asked, as in a script, it returns at once.
 * @throws {CommandFailure} for any other answer
 */
export async function confirm(terminal: Pick<Terminal, 'ask'>, question: string): Promise<void> {
  if (terminal.ask === undefined) return;
  const answer = await terminal.ask(`${question} [y/N] `);
  if (!/^(?:y|yes)$/i.test(answer.trim())) throw new CommandFailure('Nothing was changed.');
}

/**
 * Writes the question and answers the next line of input, `''` when the input ends. Without line
 * editing of our own, so that Ctrl-C ends the program as it always does.
 */
export async function askLine(
  { input, output }: { input: Readable; output: Writable },
  question: string,
): Promise<string> {
  output.write(question);
  const lines = createInterface({ input, terminal: false });
  const answered = once(lines, 'line').then(([line]) => String(line));
  const ended = once(lines, 'close').then(() => undefined);
  const answer = await Promise.race([answered, ended]);
  lines.close();
  if (answer === undefined) output.write('\n');
  return answer ?? '';
}
