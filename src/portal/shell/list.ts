/** A list with its filters, as each section has one. */
import type { Pagination } from '#shared/pagination/page.ts';
import { present } from '../address.ts';
import type { Html } from '../html.ts';
import type { PageRequest } from '../routes/route-types.ts';
import { empty, type EmptyFacts, plainCard } from './card.ts';
import { type Choice, held, type HeldForm, input, type InputFacts, select } from './fields.ts';
import { type Chip, chips, filters, wide } from './forms.ts';
import { link } from './parts.ts';
import { type Column, pager, type PagerFacts, table } from './table.ts';

/** A field of the address; its value and what is wrong with it come from there. */
export type Filter = InputFacts & {
  choices?: readonly Choice[];
  /** The choice that is no filter, before the others. */
  any?: string;
  /** Takes the room that is left. */
  isWide?: boolean;
};

type Query = Readonly<Record<string, string | undefined>>;

/** What an address asks for, for whom. */
export type ListRequest<Filters> = Pick<PageRequest<Filters>, 'reader'> & FiltersRequest<Filters>;

type FiltersRequest<Filters> = HeldForm & { query: Filters };

/** A page of a list. */
export type Found<Row> = { items: readonly Row[]; pagination: Pagination };

export type List<Row, Filters extends Query> = Found<Row> & {
  /** The list with these filters, from the page that begins at the cursor. */
  pathOf: (query: Filters) => string;
  /** What is filtered, such as `Filter receipts`. */
  label: string;
  submit?: string;
  filters: readonly Filter[];
  /** A filter in force in words; undefined for one that is not named. Without it none is. */
  filterText?: (name: string, value: string) => string;
  /** Filters that are often wanted. */
  suggestions?: readonly Chip[];
  caption: string;
  columns: readonly Column<Row>[];
  /** How many are on this page, and their order. */
  summary: string;
  pagerWords?: PagerFacts['words'];
  /** In place of everything while nothing is there at all. */
  none?: EmptyFacts;
  /** Where nothing fits the filters; by default it leads to all. */
  nothingFits: EmptyFacts;
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
    ? Object.entries(present(filtered)).map(([name, value = '']) => ({
        label: filterText(name, value),
        href: at({ ...filtered, [name]: undefined }),
      }))
    : [];
  return plainCard(
    filters({
      action: at({}),
      label: list.label,
      fields: list.filters.map((filter) => field(filter, request)),
      ...present({ submit: list.submit }),
    }),
    chips(inForce, list.suggestions),
    items.length === 0
      ? empty({ next: all, ...nothingFits }, { inCard: true })
      : table({ caption, columns, rows: items }),
    pager({
      summary: list.summary,
      ...present({
        words: list.pagerWords,
        newest: cursor && at(filtered),
        older: nextCursor && at({ ...filtered, cursor: nextCursor }),
      }),
    }),
  );
}

/** Whether an address has any filter. */
export function isFiltered({ cursor: _cursor, ...filtered }: Query): boolean {
  return Object.keys(present(filtered)).length > 0;
}

function field(filter: Filter, request: FiltersRequest<Query>): Html {
  const { any, choices, isWide, ...rest } = filter;
  const { name } = filter;
  const facts = { value: request.query[name], ...rest, ...present(held(name, request)) };
  if (!choices) return isWide ? wide(input(facts)) : input(facts);
  const none = any === undefined ? [] : [{ value: '', label: any }];
  return select({ ...facts, choices: [...none, ...choices], value: facts.value?.toString() });
}
