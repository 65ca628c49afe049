/**
 * A list that becomes records in a narrow box. The roles keep it a table for screen readers that lose
 * it under `display: block`.
 */
import { html, type Html, type HtmlValue } from '../html.ts';
import { attributes, hidden, link } from './parts.ts';
import { count } from './times.ts';

/**
 * The label is the heading, and what stands before the cell in a narrow box. An undefined cell is left empty; a narrow
 * box leaves it out. `number`: to the right, `whole`: never wrapped, `acts`: links and forms, last.
 */
export type Column<Row> = readonly [
  label: string,
  cell: (row: Row) => HtmlValue,
  kind?: 'number' | 'whole' | 'acts',
];

export type TableFacts<Row> = {
  /** What is listed and in which order; read by screen readers, not shown. */
  caption: string;
  /** The first names the row. */
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** Scrolls sideways instead of becoming records: for tables of numbers. */
  scrolls?: boolean;
};

const CLASSES = { number: 'r', whole: 'n', acts: 'acts' } as const;

const classOf = <Row>([, , kind]: Column<Row>): string | undefined => kind && CLASSES[kind];

/** A table; where it stands in a card, not in its `body`. */
export function table<Row>({ caption, columns, rows, scrolls = false }: TableFacts<Row>): Html {
  const region = scrolls ? { tabindex: 0, role: 'region', 'aria-label': caption } : {};
  return html`<div class="table" ${attributes(region)}>
    <table role="table" class="${scrolls ? 'keep' : 'rows'}">
      <caption class="vh">
        ${caption}
      </caption>
      <thead role="rowgroup">
        <tr role="row">
          ${columns.map(heading)}
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${rows.map((row) => record(columns, row))}
      </tbody>
    </table>
  </div>`;
}

function heading<Row>(column: Column<Row>): Html {
  const names = attributes({ role: 'columnheader', scope: 'col', class: classOf(column) });
  const [label, , kind] = column;
  return html`<th${names}>${kind === 'acts' ? hidden(label) : label}</th>`;
}

function record<Row>(columns: readonly Column<Row>[], row: Row): Html {
  const [first, ...others] = columns;
  return html`<tr role="row">
    ${first && title(first, row)}${others.map((column) => cell(column, row))}
  </tr> `;
}

function title<Row>(column: Column<Row>, row: Row): Html {
  const names = attributes({ role: 'rowheader', scope: 'row', class: classOf(column) });
  return html`<th${names}>${column[1](row)}</th>`;
}

function cell<Row>(column: Column<Row>, row: Row): Html {
  const [label, toContent, kind] = column;
  const acts = kind === 'acts';
  const names = attributes({
    role: 'cell',
    class: classOf(column),
    'data-l': acts ? undefined : label,
  });
  const content = toContent(row);
  if (content === undefined || content === '') return html`<td${names}></td>`;
  return html`<td${names}>${acts ? content : html`<div>${content}</div>`}</td>`;
}

export type PagerFacts = {
  /** How many are on this page, and their order. */
  summary: string;
  /** Address of the first page; left out on it. */
  newest?: string;
  /** Address of the next page; left out on the last. */
  older?: string;
  /** Other words where the order is not by time. */
  words?: { newest: string; older: string };
};

/** Below a part of what is all there: `shown` of `total` from `start` on. `what`: in the plural. */
export function partPager(
  what: string,
  { start, shown, total }: Record<'start' | 'shown' | 'total', number>,
  pathOf: (start: number | undefined) => string,
): Html {
  const end = start + shown;
  return pager({
    summary: `${what} ${count(start + 1)} to ${count(end)} of ${count(total)}`,
    words: { newest: 'First', older: 'Next' },
    ...(start > 0 && { newest: pathOf(undefined) }),
    ...(end < total && { older: pathOf(end) }),
  });
}

/** Below a list: no totals, only where one can go. */
export function pager(facts: PagerFacts): Html {
  const { summary, newest, older, words = { newest: 'Newest', older: 'Older' } } = facts;
  return html`<nav class="row pager" aria-label="Pages">
    <span>${summary}</span>
    <span class="row"
      >${newest !== undefined && link(newest, words.newest, { look: 'small' })}
      ${older !== undefined && link(older, words.older, { look: 'small' })}</span
    >
  </nav>`;
}
