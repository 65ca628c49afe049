/** The table of all figures: a row for each, a column for each store. */
import { type BenchRow, type Bound, isMet, type StoreName } from './row.ts';

/** Markdown: one line for each figure, the notes of all below. */
export function renderTable(measured: readonly BenchRow[]): string {
  const rows = [...Map.groupBy(measured, ({ what }) => what)].map(([what, ofBoth]) => {
    const cell = (name: StoreName): string =>
      cellOf(ofBoth.find(({ store = 'SQLite' }) => store === name));
    const [first] = ofBoth;
    const wanted = first?.wanted ? boundText(first.wanted) : '';
    return [what, cell('SQLite'), cell('PostgreSQL'), wanted, first?.source ?? ''];
  });
  const notes = measured.flatMap(({ what, store = 'SQLite', note }) =>
    note === undefined ? [] : [`- ${what} (${store}): ${note}`],
  );
  const table = align([['figure', 'SQLite', 'PostgreSQL', 'wanted', 'source'], ...rows]);
  return [...table, '', ...notes, ''].join('\n');
}

function cellOf(row: BenchRow | undefined): string {
  if (!row) return '';
  const { value, unit, wanted } = row;
  if (value === undefined) return 'left out';
  const text = Number.isInteger(value) || unit ? value.toFixed(0) : value.toFixed(2);
  return `${text}${unit ? ` ${unit}` : ''}${wanted && !isMet(value, wanted) ? ' MISSED' : ''}`;
}

function boundText(wanted: Bound): string {
  if ('atLeast' in wanted) return `≥ ${wanted.atLeast}`;
  return 'atMost' in wanted ? `≤ ${wanted.atMost}` : `= ${wanted.exactly}`;
}

function align(rows: readonly string[][]): string[] {
  const widths = rows[0]?.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const lines = rows.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths?.[column] ?? 0)).join(' | ')} |`,
  );
  const rule = `|${widths?.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [lines[0] ?? '', rule, ...lines.slice(1)];
}
