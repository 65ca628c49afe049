/** The table of all figures: a row for each, a column for each store. */
import { type BenchRow, type Bound, isMet, median, type StoreName } from './row.ts';

/** One figure over all runs. */
export type Summary = Omit<BenchRow, 'value' | 'note'> & {
  store: StoreName;
  /** One for each run that has it, in their order. */
  values: number[];
  min?: number;
  median?: number;
  max?: number;
  /** (max − min) ÷ median. */
  spread?: number;
  /** Of the median. */
  met?: boolean;
  notes: string[];
};

/** The same figure of several runs made one, in the order of the first run. */
export function summarize(runs: readonly (readonly BenchRow[])[]): Summary[] {
  const groups = Map.groupBy(runs.flat(), ({ what, store = 'SQLite' }) => `${store} ${what}`);
  return [...groups.values()].map(summarizeOne);
}

function summarizeOne(rows: readonly BenchRow[]): Summary {
  const [{ value: _value, note: _note, ...first } = emptyRow] = rows;
  const values = rows.flatMap(({ value }) => value ?? []);
  const notes = [...new Set(rows.flatMap(({ note }) => note ?? []))];
  const summary = { ...first, store: first.store ?? 'SQLite', values, notes };
  if (values.length === 0) return summary;
  const middle = median(values);
  const [min, max] = [Math.min(...values), Math.max(...values)];
  const spread = middle === 0 ? 0 : (max - min) / middle;
  const { wanted } = first;
  return {
    ...summary,
    min,
    median: middle,
    max,
    spread,
    ...(wanted && { met: isMet(middle, wanted) }),
  };
}

const emptyRow: BenchRow = { what: '', value: undefined, source: '' };

/** Markdown: one line for each figure, the notes of all below. */
export function renderTable(summaries: readonly Summary[]): string {
  const rows = [...Map.groupBy(summaries, ({ what }) => what)].map(([what, ofBoth]) => {
    const of = (name: StoreName): Summary | undefined => ofBoth.find(({ store }) => store === name);
    const [first] = ofBoth;
    return [
      what,
      cellOf(of('SQLite')),
      cellOf(of('PostgreSQL')),
      first?.wanted ? boundText(first.wanted) : '',
      first?.source ?? '',
    ];
  });
  const table = align([['figure', 'SQLite', 'PostgreSQL', 'wanted', 'source'], ...rows]);
  const notes = summaries.flatMap(({ what, store, notes }) =>
    notes.map((note) => `- ${what} (${store}): ${note}`),
  );
  return [...table, '', ...notes, ''].join('\n');
}

function cellOf(summary: Summary | undefined): string {
  if (!summary) return '';
  const { values, min, median: middle, max, spread = 0, unit, met } = summary;
  if (middle === undefined || min === undefined || max === undefined) return 'left out';
  const text = (value: number): string => numberText(value, unit);
  const figures =
    values.length === 1
      ? text(middle)
      : `${text(min)} / ${text(middle)} / ${text(max)} (${Math.round(spread * 100)} %)`;
  return `${figures}${unit ? ` ${unit}` : ''}${met === false ? ' MISSED' : ''}`;
}

function numberText(value: number, unit: string | undefined): string {
  return Number.isInteger(value) || unit ? value.toFixed(0) : value.toFixed(2);
}

function boundText(wanted: Bound): string {
  if ('atLeast' in wanted) return `≥ ${wanted.atLeast}`;
  if ('atMost' in wanted) return `≤ ${wanted.atMost}`;
  if ('below' in wanted) return `< ${wanted.below}`;
  return `= ${wanted.exactly}`;
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
