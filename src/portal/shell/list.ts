/** A list with its filters, as each section has one. */
import type { Pagination } from '#shared/pagination/page.ts';
import type { Html } from '../html.ts';
import type { WrongFilters } from '../routes/route-types.ts';
import { empty, type EmptyFacts, plainCard } from './card.ts';
import { type Choice, input, type InputFacts, select } from './fields.ts';
import { filters, wide } from './forms.ts';
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

/** What an address asks for, and what was found there. */
export type Listed<Row, Given extends Query> = {
  items: readonly Row[];
  pagination: Pagination;
  query: Given;
  wrong: WrongFilters;
};

export type ListFacts<Row, Given extends Query> = Listed<Row, Given> & {
  /** The list with these filters, from the page that begins at the cursor. */
  pathOf: (query: Given) => string;
  /** What is filtered, such as `Filter receipts`. */
  label: string;
  submit?: string;
  filters: readonly Filter[];
  /** By `chips`. */
  chips?: Html;
  caption: string;
  columns: readonly Column<Row>[];
  /** How many are on this page, and their order. */
  summary: string;
  pagerWords?: PagerFacts['words'];
  /** In place of everything while nothing is there at all. */
  none?: EmptyFacts;
  /** Where nothing fits the filters. */
  nothingFits: EmptyFacts;
};

/** The list in its card. */
export function listCard<Row, Given extends Query>(given: ListFacts<Row, Given>): Html {
  const { items, pagination, query, pathOf, none, nothingFits, caption, columns } = given;
  const { cursor, ...filtered } = query;
  if (none && items.length === 0 && !isFiltered(query) && cursor === undefined) return empty(none);
  const at = (start?: string): string => pathOf({ ...filtered, cursor: start } as unknown as Given);
  const { nextCursor } = pagination;
  return plainCard(
    filters({
      action: pathOf({} as Given),
      label: given.label,
      fields: given.filters.map((filter) => field(filter, given)),
      ...(given.submit !== undefined && { submit: given.submit }),
    }),
    given.chips,
    items.length === 0
      ? empty(nothingFits, { inCard: true })
      : table({ caption, columns, rows: items }),
    pager({
      summary: given.summary,
      ...(given.pagerWords && { words: given.pagerWords }),
      ...(cursor !== undefined && { newest: at() }),
      ...(nextCursor !== undefined && { older: at(nextCursor) }),
    }),
  );
}

/** Whether an address has any filter. */
export function isFiltered({ cursor: _cursor, ...filtered }: Query): boolean {
  return Object.values(filtered).some((value) => value !== undefined);
}

function field(filter: Filter, { query, wrong }: { query: Query; wrong: WrongFilters }): Html {
  const { any, choices, isWide, ...rest } = filter;
  const facts = { value: query[filter.name], ...rest, ...wrong[filter.name] };
  if (!choices) return isWide ? wide(input(facts)) : input(facts);
  const none = any === undefined ? [] : [{ value: '', label: any }];
  return select({ ...facts, choices: [...none, ...choices], value: facts.value?.toString() });
}
