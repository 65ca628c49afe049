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

/** What stands where there is no value. */
export const NONE = '–';

/** The word in its colour where colours are wanted. */
export function renderWord<Word extends string>(
  word: Word,
  colours: Readonly<Record<Word, Parameters<typeof styleText>[0]>>,
  hasColour: boolean,
): string {
  return hasColour ? styleText(colours[word], word, { validateStream: false }) : word;
}

/** Text from outside, safe to print: every control character becomes `?`. */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '?');
}

function renderLine(line: readonly string[], widths: readonly number[]): string {
  const cells = widths.map((width, column) => {
    const cell = line[column] ?? '';
    return cell + ' '.repeat(width - widthOf(cell));
  });
  return cells.join(GAP).trimEnd();
}

function widthOf(cell: string): number {
  return Array.from(stripVTControlCharacters(cell)).length;
}
