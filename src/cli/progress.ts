import type { Terminal } from './command.ts';
import { printable } from './table.ts';

const WIDTH = 24;
const LABEL_CHARACTERS_MAX = 48;
/** Up one line, and clear it: what was noted before is written over. */
const OVER_THE_LAST_LINE = '\u001b[1A\u001b[2K';

/** A bar that is redrawn in place; silent where nobody watches. */
export type ProgressBar = (done: number, label?: string) => void;

/** A progress bar over `total` steps on standard error. */
export function createProgressBar(
  terminal: Pick<Terminal, 'note' | 'isInteractive'>,
  total: number,
): ProgressBar {
  if (!terminal.isInteractive || total === 0) return () => undefined;
  let isDrawn = false;
  return (done, label = '') => {
    const filled = Math.round((done / total) * WIDTH);
    const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled);
    const text = `${bar} ${done}/${total} ${printable(label).slice(-LABEL_CHARACTERS_MAX)}`;
    terminal.note(`${isDrawn ? OVER_THE_LAST_LINE : ''}${text.trimEnd()}`);
    isDrawn = true;
  };
}
