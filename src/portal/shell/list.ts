/** Tables, and lists with their filters, in an address and on the page, as each section has one. */
import { z } from 'zod';
import { CURSOR_CHARACTERS_MAX, type Pagination } from '#shared/pagination/page.ts';
import { DAY, MINUTE } from '#shared/clock.ts';
import { type Html, html, type HtmlValue } from '../html.ts';
import type { PortalRequest } from '../routes/portal-request.ts';
import { empty, type EmptyCard, plainCard } from './card.ts';
import { attributes, hidden, link } from './elements.ts';
import {
  type Chip,
  chips,
  type Choice,
  filters,
  held,
  type HeldForm,
  input,
  type InputField,
  select,
  wide,
} from './forms.ts';
import { count } from './times.ts';

/** A field of the address; its value and what is wrong with it come from there. */
export type Filter = InputField & {
  choices?: readonly Choice[];
  /** The choice that is no filter, before the others. */
  any?: string;
  /** Takes the room that is left. */
  isWide?: boolean;
};

/** From when until when, as `instantFilter` reads it. */
export const spanFilters: readonly Filter[] = [
  { name: 'from', label: 'From (UTC)', type: 'datetime-local' },
  { name: 'to', label: 'To (UTC)', type: 'datetime-local' },
];

type Query = Readonly<Record<string, string | undefined>>;

/** A list as an address asks for it, and for whom. */
export type ListRequest<Filters> = Pick<PortalRequest<unknown, Filters>, 'viewer'> &
  FiltersRequest<Filters>;

type FiltersRequest<Filters> = HeldForm & { query: Filters };

/** A page of a list. */
export type Found<Row> = { items: readonly Row[]; pagination: Pagination };

type List<Row, Filters extends Query> = Found<Row> & {
  /** The list with these filters, from the page that begins at the cursor. */
  pathOf: (query: Filters) => string;
  /** Names the filters, such as `Filter receipts`; without filters there is nothing. */
  label?: string;
  submit?: string;
  filters: readonly Filter[];
  /** A filter in force in words; undefined for one that is not named. Without it none is. */
  filterText?: (name: string, value: string) => string;
  /** Filters that are often wanted. */
  suggestions?: readonly Chip[];
  caption: string;
  columns: readonly Column<Row>[];
  /** Number of rows on this page, and their order. */
  summary: string;
  pagerWords?: Pager['words'];
  /** In place of everything while nothing is there at all. */
  none?: EmptyCard;
  /** In place of the rows while nothing fits the filters; by default it leads to all. */
  nothingFits: EmptyCard;
};

/** The list in its card. */
export function listCard<Row, Filters extends Query>(
  list: List<Row, Filters>,
  request: ListRequest<Filters>,
): Html {
  const { items, pagination, pathOf, none, nothingFits, caption, columns, filterText } = list;
  const { cursor, ...filtered } = request.query;
  if (none && items.length === 0 && !isFiltered(request.query) && cursor === undefined)
    return empty(none);
  const at = (query: Query): string => pathOf(query as Filters);
  const all = link(at({}), 'Show all', { look: 'button' });
  const { nextCursor } = pagination;
  const inForce = filterText
    ? valuesIn(filtered).map(([name, value]) => ({
        label: filterText(name, value),
        href: at({ ...filtered, [name]: undefined }),
      }))
    : [];
  return plainCard(
    list.label !== undefined &&
      filters({
        action: at({}),
        label: list.label,
        fields: list.filters.map((filter) => field(filter, request)),
        submit: list.submit,
      }),
    chips(inForce, list.suggestions),
    items.length === 0
      ? empty({ next: all, ...nothingFits }, { inCard: true })
      : table({ caption, columns, rows: items }),
    pager({
      summary: list.summary,
      words: list.pagerWords,
      newest: cursor && at(filtered),
      older: nextCursor && at({ ...filtered, cursor: nextCursor }),
    }),
  );
}

/** True when an address has any filter. */
export function isFiltered({ cursor: _cursor, ...filtered }: Query): boolean {
  return valuesIn(filtered).length > 0;
}

function valuesIn(filtered: Query): [string, string][] {
  return Object.entries(filtered).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
}

function field(filter: Filter, request: FiltersRequest<Query>): Html {
  const { any, choices, isWide, ...rest } = filter;
  const { name } = filter;
  const own = isTime(filter) ? toMinute(name, request.query[name]) : request.query[name];
  const { value = rest.value ?? own, error = rest.error } = held(name, request);
  const facts = { ...rest, value, error };
  if (!choices) return isWide ? wide(input(facts)) : input(facts);
  const none = any === undefined ? [] : [{ value: '', label: any }];
  return select({ ...facts, choices: [...none, ...choices], value: facts.value?.toString() });
}

const isTime = ({ type }: Filter): boolean => type === 'datetime-local';

/** A day in an address as its first minute, or its last: fields for instants take nothing else. */
function toMinute(name: string, value?: string): string | undefined {
  if (value === undefined || value.includes('T')) return value;
  return `${value}T${name === 'to' ? '23:59' : '00:00'}`;
}

/**
 * The label is the heading, and what stands before the cell in a narrow box. An undefined cell is left empty; a narrow
 * box leaves it out. `number`: to the right, `whole`: never wrapped, `acts`: links and forms, last.
 */
export type Column<Row> = readonly [
  label: string,
  cell: (row: Row) => HtmlValue,
  kind?: 'number' | 'whole' | 'acts',
];

type Table<Row> = {
  /** Names the rows and their order; for screen readers, not shown. */
  caption: string;
  /** The first names the row. */
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** Scrolls sideways instead of becoming records: for tables of numbers. */
  scrolls?: boolean;
};

const CLASSES = { number: 'r', whole: 'n', acts: 'acts' } as const;

const classOf = <Row>([, , kind]: Column<Row>): string | undefined => kind && CLASSES[kind];

/**
 * A table; where it stands in a card, not in its `body`. In a narrow box it becomes records: the roles keep it a table for
 * screen readers that lose it under `display: block`.
 */
export function table<Row>({ caption, columns, rows, scrolls = false }: Table<Row>): Html {
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

type Pager = {
  /** Number of rows on this page, and their order. */
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
export function pager(facts: Pager): Html {
  const { summary, newest, older, words = { newest: 'Newest', older: 'Older' } } = facts;
  return html`<nav class="row pager" aria-label="Pages">
    <span>${summary}</span>
    <span class="row"
      >${newest !== undefined && link(newest, words.newest, { look: 'small' })}
      ${older !== undefined && link(older, words.older, { look: 'small' })}</span
    >
  </nav>`;
}

const TEXT_CHARACTERS_MAX = 512;

/** Text of at most so many characters, default 512; an empty one is none. */
export const textFilter = (charactersMax = TEXT_CHARACTERS_MAX) =>
  z
    .string('must be given once')
    .max(charactersMax, `must have at most ${charactersMax} characters`)
    .trim()
    .transform((value) => value || undefined)
    .optional();

const inCode = (words: readonly string[]): string => words.map((word) => `\`${word}\``).join(', ');

/** One of these words, or none. */
export const oneOfFilter = <const Words extends readonly string[]>(words: Words) =>
  z
    .union([z.literal(''), z.enum(words)], `must be one of ${inCode(words)}`)
    .transform((value) => value || undefined)
    .optional();

/** A day, or one of its minutes, in UTC, or none. */
export const instantFilter = z
  .union(
    [z.literal(''), z.iso.date(), z.iso.datetime({ local: true, precision: -1 })],
    'must be a day or a minute, such as 2026-11-21 or 2026-11-21T14:02',
  )
  .transform((value) => value || undefined)
  .optional();

/** Start of a page of a list. */
export const cursorFilter = textFilter(CURSOR_CHARACTERS_MAX);

/** Number of rows before the first that is shown. */
export const startParameter = z
  .string()
  .regex(/^[0-9]{1,4}$/, 'must be a number')
  .optional()
  .transform((digits) => Number(digits ?? 0));

/** From one instant of a filter to another, in UTC; what the second names is part of it: a day, or a minute. */
export function spanOf({ from, to }: { from?: string; to?: string }): {
  since?: number;
  before?: number;
} {
  return {
    ...(from !== undefined && { since: Date.parse(toUtc(from)) }),
    ...(to !== undefined && { before: Date.parse(toUtc(to)) + (to.includes('T') ? MINUTE : DAY) }),
  };
}

/** A date alone is one in UTC already. */
function toUtc(text: string): string {
  return text.includes('T') ? `${text}Z` : text;
}
