import { activeKeys, standings } from '#access/consumers/find-consumers.ts';
import type { Consumer } from '#access/consumers/consumer.ts';
import type { Pagination } from '#shared/pagination/page.ts';
import type { Html } from '../../html.ts';
import type { WrongFilters } from '../../routes/route-types.ts';
import { empty, plainCard } from '../../shell/card.ts';
import { input, select } from '../../shell/fields.ts';
import { filters, wide } from '../../shell/forms.ts';
import { foreign, link } from '../../shell/parts.ts';
import { pager, table } from '../../shell/table.ts';
import { count, counted } from '../../shell/times.ts';
import type { Reader } from '../../shell/times.ts';
import { consumerPath, CONSUMERS_PATH, consumersPath } from './query.ts';
import type { ConsumersQuery } from './query.ts';
import { expiryWords, grantWords, lastUsedWords, STANDING_WORDS, standingBadge } from './words.ts';

/** What a row shows of a name, and how many labels; the consumer's page shows all. */
const NAME_CHARACTERS = 80;
const LABELS = 2;

export type ConsumerListFacts = {
  consumers: readonly Consumer[];
  pagination: Pagination;
  query: ConsumersQuery;
  wrong: WrongFilters;
};

/** Who reads, and whose key ends soon or is missing. */
export function consumerListView(given: ConsumerListFacts, reader: Reader): Html {
  const { consumers, pagination, query } = given;
  const { cursor, ...filtered } = query;
  const isFiltered = Object.values(filtered).some((value) => value !== undefined);
  if (consumers.length === 0 && !isFiltered && cursor === undefined) return noConsumers();
  return plainCard(
    filterForm(given),
    consumers.length === 0 ? nothingFits(pagination) : consumerTable(consumers, reader),
    pager({
      summary: `${counted(consumers.length, 'consumer')} on this page, oldest first`,
      words: { newest: 'First', older: 'Next' },
      ...(cursor !== undefined && { newest: consumersPath(filtered) }),
      ...(pagination.nextCursor !== undefined && {
        older: consumersPath({ ...filtered, cursor: pagination.nextCursor }),
      }),
    }),
  );
}

function noConsumers(): Html {
  return empty({
    id: 'no-consumers',
    heading: 'Nobody reads yet',
    text: 'A consumer is a machine that reads leads, such as a sales tool. Create one, say which leads it may see, and give it a key.',
    next: link({ href: `${CONSUMERS_PATH}/new`, text: 'Create consumer', look: 'primary' }),
  });
}

function nothingFits({ hasMore }: Pagination): Html {
  return empty(
    {
      id: 'nothing-fits',
      heading: hasMore ? 'None on this page' : 'Nobody like this',
      text: hasMore
        ? 'There are more consumers to look through: go on to the next page.'
        : 'No consumer fits all of these filters.',
      next: link({ href: CONSUMERS_PATH, text: 'Show all', look: 'button' }),
    },
    { inCard: true },
  );
}

function filterForm({ query: { q, state, expires }, wrong }: ConsumerListFacts): Html {
  const states = standings.toReversed().map((value) => ({
    value,
    label: STANDING_WORDS[value].words,
  }));
  return filters({
    action: CONSUMERS_PATH,
    label: 'Filter consumers',
    fields: [
      wide(input({ name: 'q', label: 'Name or key id', type: 'search', value: q, ...wrong['q'] })),
      select({
        name: 'state',
        label: 'State',
        value: state,
        choices: [{ value: '', label: 'Any' }, ...states],
        ...wrong['state'],
      }),
      select({
        name: 'expires',
        label: 'Key expires',
        value: expires,
        choices: [
          { value: '', label: 'Any time' },
          { value: '14', label: 'Within 14 days' },
          { value: '90', label: 'Within 90 days' },
        ],
        ...wrong['expires'],
      }),
    ],
  });
}

function consumerTable(consumers: readonly Consumer[], reader: Reader): Html {
  return table<Consumer>({
    caption: 'Consumers, oldest first',
    rows: consumers,
    columns: [
      {
        label: 'Name',
        cell: ({ id, name }) =>
          link({ href: consumerPath(id), text: foreign(name, NAME_CHARACTERS) }),
      },
      { label: 'State', cell: (consumer) => standingBadge(consumer, reader) },
      { label: 'May read', cell: ({ grants }) => grantWords(grants, LABELS) },
      {
        label: 'Active keys',
        kind: 'number',
        cell: (consumer) => count(activeKeys(consumer, reader.nowMs).length),
      },
      { label: 'Next expiry', cell: (consumer) => expiryWords(consumer, reader) },
      { label: 'Last used', cell: (consumer) => lastUsedWords(consumer, reader) },
    ],
  });
}
