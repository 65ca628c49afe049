/**
 * Shows the progress of long work: a line that is redrawn in place on a terminal, a plain line every few
 * seconds elsewhere, nothing beside a JSON document.
 */
import { type Clock, HOUR, MINUTE, SECOND } from '#shared/clock.ts';
import type { OnProgress } from '#shared/progress.ts';
import type { Terminal } from './command.ts';
import { printable } from './table.ts';

const BAR_CHARACTERS = 24;
/** A line that wraps could not be written over. */
const LINE_CHARACTERS_MAX = 79;
/** Up one line, and clear it: what was noted before is written over. */
const OVER_THE_LAST_LINE = '\u001b[1A\u001b[2K';
const REDRAW_EVERY_MS = 100;
const PLAIN_LINE_EVERY_MS = 5 * SECOND;
/** Before that a rate is a guess. */
const RATE_AFTER_MS = SECOND;

type ProgressOptions = {
  terminal: Pick<Terminal, 'note' | 'isInteractive'>;
  clock: Clock;
  /** `--json`: nobody reads along. */
  isJson?: boolean;
};

type Step = { done: number; total: number; unit: string; atHand: string };

/**
 * Shows the progress of one work on standard error; the work begins with the first report, and a part
 * of it that counts other steps begins anew.
 */
export function createProgress({ terminal, clock, isJson }: ProgressOptions): OnProgress {
  if (isJson) return () => undefined;
  const { isInteractive } = terminal;
  const everyMs = isInteractive ? REDRAW_EVERY_MS : PLAIN_LINE_EVERY_MS;
  let start: { at: number; done: number; unit: string } | undefined;
  // Short work leaves no plain line; a terminal sees every part at once.
  let shownAt: number | undefined;
  let isDrawn = false;
  return (done, total, unit, atHand = '') => {
    const now = clock.monotonicMs();
    if (start?.unit !== unit) {
      // Other steps are another part of the work, with a line and a rate of their own.
      start = { at: now, done, unit };
      isDrawn = false;
      if (isInteractive) shownAt = -Infinity;
    }
    shownAt ??= now;
    const isEnd = total > 0 && done >= total && (isInteractive || isDrawn);
    if (!isEnd && now - shownAt < everyMs) return;
    shownAt = now;
    const pace = paceOf({ done, total }, done - start.done, now - start.at);
    const step = { done, total, unit, atHand: printable(atHand) };
    terminal.note(isInteractive ? drawLine(step, pace, isDrawn) : plainLine(step, pace));
    isDrawn = true;
  };
}

function plainLine(step: Step, pace: string): string {
  const { atHand } = step;
  return `${countsOf(step)}${pace}${atHand && `: ${atHand}`}`;
}

function drawLine(step: Step, pace: string, isDrawn: boolean): string {
  const { done, total, atHand } = step;
  const filled =
    total > 0 ? Math.min(BAR_CHARACTERS, Math.round((done / total) * BAR_CHARACTERS)) : 0;
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_CHARACTERS - filled);
  const facts = `${total > 0 ? `${bar} ` : ''}${countsOf(step)}${pace}`;
  // Of a path the end tells more.
  const room = Math.max(0, LINE_CHARACTERS_MAX - facts.length - 2);
  const rest = room > 0 ? atHand.slice(-room) : '';
  return `${isDrawn ? OVER_THE_LAST_LINE : ''}${facts}${rest && `  ${rest}`}`;
}

function countsOf({ done, total, unit }: Step): string {
  return total > 0 ? `${done}/${total} ${unit}` : `${done} ${unit}`;
}

/** The rate, but for one that would be shown as 0, and what remains at that rate. */
function paceOf(
  { done, total }: { done: number; total: number },
  steps: number,
  ms: number,
): string {
  if (steps <= 0 || ms < RATE_AFTER_MS) return '';
  const perSecond = (steps / ms) * SECOND;
  const shown = perSecond < 10 ? perSecond.toFixed(1) : String(Math.round(perSecond));
  const rate = shown === '0.0' ? '' : `, ${shown}/s`;
  return total > done ? `${rate}, ${spanOf(((total - done) / perSecond) * SECOND)} left` : rate;
}

function spanOf(ms: number): string {
  if (ms < MINUTE) return `${Math.ceil(ms / SECOND)} s`;
  return ms < HOUR ? `${Math.ceil(ms / MINUTE)} min` : `${(ms / HOUR).toFixed(1)} h`;
}
