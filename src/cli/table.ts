import type { Urgency } from '#shared/outcomes/entry.ts';
import { stripVTControlCharacters, styleText } from 'node:util';

const GAP = '  ';

/**
 * Rows as aligned text under their headings; `nothing` when there are none. Cells may hold
 * colours, so text from outside goes through `printable` first.
 */
export function renderTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  nothing = 'Nothing found.',
): string {
  if (rows.length === 0) return nothing;
  const lines = [headings.map((heading) => heading.toUpperCase()), ...rows];
  const widths = headings.map((_, column) =>
    Math.max(...lines.map((line) => widthOf(line[column] ?? ''))),
  );
  return lines.map((line) => renderLine(line, widths)).join('\n');
}

/** Names and values as aligned lines. */
export function renderFacts(facts: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...facts.map(([name]) => name.length));
  return facts.map(([name, value]) => `${name.padEnd(width)}${GAP}${value}`).join('\n');
}

/** Stands where there is no value. */
export const NONE = '–';

type Colour = Parameters<typeof styleText>[0];

/** The word in its colour where colours are wanted. */
export function renderWord(word: string, colour: Colour, hasColour: boolean): string {
  return hasColour ? styleText(colour, word, { validateStream: false }) : word;
}

const COLOURS = {
  bad: 'red',
  warn: 'yellow',
  odd: 'yellow',
  wait: 'yellow',
  ok: 'green',
  mute: 'dim',
} as const satisfies Record<Urgency, Colour>;

/** A code of a table of outcomes in the colour of its urgency. */
export function renderStanding<Code extends string>(
  code: Code,
  table: Readonly<Record<Code, { urgency: Urgency }>>,
  hasColour: boolean,
): string {
  return renderWord(code, COLOURS[table[code].urgency], hasColour);
}

/** Line ends of Unicode, and signs that turn the direction of the text that follows, beyond its cell too. */
const TURNING = /[\u2028-\u202E\u2066-\u2069]/g;
/** Letters that are written from right to left. */
const RIGHT_TO_LEFT =
  /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;
/** Between these a text has a direction of its own, and leaves what stands beside it in place. */
const ISOLATE = '\u2068';
const END_ISOLATE = '\u2069';

/**
 * Text from outside, safe to print: every control character, and every one that turns the direction of
 * text, becomes `?`. What is written from right to left is isolated.
 */
export function printable(text: string): string {
  const safe = text.replaceAll(/\p{Cc}/gu, '?').replaceAll(TURNING, '?');
  return RIGHT_TO_LEFT.test(safe) ? `${ISOLATE}${safe}${END_ISOLATE}` : safe;
}

function renderLine(line: readonly string[], widths: readonly number[]): string {
  const cells = widths.map((width, column) => {
    const cell = line[column] ?? '';
    return cell + ' '.repeat(width - widthOf(cell));
  });
  return cells.join(GAP).trimEnd();
}

function widthOf(cell: string): number {
  const seen = stripVTControlCharacters(cell).replaceAll(TURNING, '');
  return Array.from(seen).length;
}
