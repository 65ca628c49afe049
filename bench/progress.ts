/** Progress of the torture and the pictures, shown as the commands do, with the same line. */
import { createProgress } from '#cli/progress.ts';
import { systemClock } from '#shared/clock.ts';
import type { OnProgress } from '#shared/progress.ts';

/** On standard error: a line in place on a terminal, plain lines elsewhere. */
export function showOnStandardError(): OnProgress {
  const { stderr } = process;
  const note = (text: string): void => void stderr.write(`${text}\n`);
  const terminal = { note, isInteractive: stderr.isTTY };
  return createProgress({ terminal, clock: systemClock });
}
