/** The list of consumers, and the words that say how one stands, what it may read, and until when. */
import { z } from 'zod';
import {
  activeKeys,
  type Consumer,
  type ConsumerStatus,
  consumerStatuses,
  nextExpiry,
  statusAt,
} from '#access/consumers/consumer.ts';
import type { Standing } from '#shared/outcomes/entry.ts';
import { endsSoon } from '#access/keys/key-rules.ts';
import { type Grant, grantOf } from '#access/grant.ts';
import {
  type Column,
  cursorFilter,
  type Found,
  listCard,
  type ListRequest,
  oneOfFilter,
  textFilter,
} from '../../shell/list.ts';
import { type Html, html, type HtmlValue } from '../../html.ts';
import { consumerPath, CONSUMERS_PATH, consumersPath, SECTIONS } from '../../paths.ts';
import { page } from '../../routes/page-route.ts';
import { badge, badgeOf, foreign, link, note, tag } from '../../shell/elements.ts';
import { choicesOf } from '../../shell/forms.ts';
import { ago, count, counted, time, type Viewer } from '../../shell/times.ts';

/** The address of the list: what a form leaves empty is no filter. */
export const consumersQuery = z.strictObject({
  q: textFilter(),
  state: oneOfFilter(consumerStatuses),
  expires: z
    .enum(['', '30', '90'], 'must be 30 or 90 days')
    .transform((value) => value || undefined)
    .optional(),
  cursor: cursorFilter,
});

type ConsumersQuery = z.output<typeof consumersQuery>;

/** With the longest names and labels the page stays below 50 KB. */
const PAGE_CONSUMERS = 25;

const CREATE = link(`${CONSUMERS_PATH}/new`, 'Create consumer', { look: 'primary' });

/** `/portal/consumers`: machines that read. */
export const consumerListPage = page({
  path: CONSUMERS_PATH,
  scope: SECTIONS.consumers.scope,
  query: consumersQuery,
  isList: true,
  show: async ({ access }, request) => {
    const { q, state, expires, cursor } = request.query;
    const endsWithinDays = expires && Number(expires);
    const filter = { text: q, status: state, endsWithinDays };
    const found = await access.consumers.find({ filter, limit: PAGE_CONSUMERS, cursor });
    return {
      title: 'Consumers',
      section: 'consumers',
      meta: ['Machines that read leads. Grants say what they may do, keys say who they are.'],
      actions: CREATE,
      body: consumerListView(found, request),
    };
  },
});

/** Characters of a name, and labels, in a row; the consumer's page shows all. */
const NAME_CHARACTERS = 80;
const LABELS = 2;

/** Consumers, and whose key ends soon or is missing. */
export function consumerListView(
  found: Found<Consumer>,
  request: ListRequest<ConsumersQuery>,
): Html {
  const { hasMore } = found.pagination;
  const list = {
    ...found,
    pathOf: consumersPath,
    label: 'Filter consumers',
    filters: [
      { name: 'q', label: 'Name or key id', type: 'search' as const, isWide: true },
      {
        name: 'state',
        label: 'State',
        any: 'Any',
        choices: choicesOf(consumerStatuses.toReversed(), CONSUMER_STATUS_WORDS),
      },
      {
        name: 'expires',
        label: 'Key expires',
        any: 'Any time',
        choices: ['30', '90'].map((value) => ({ value, label: `Within ${value} days` })),
      },
    ],
    caption: 'Consumers, oldest first',
    columns: columnsFor(request.viewer),
    summary: `${counted(found.items.length, 'consumer')} on this page, oldest first`,
    pagerWords: { newest: 'First', older: 'Next' },
    none: {
      id: 'no-consumers',
      heading: 'Nobody reads yet',
      text: 'A consumer is a machine that reads leads, such as a sales tool. Create one, say which leads it may see, and give it a key.',
      next: CREATE,
    },
    nothingFits: {
      id: 'nothing-fits',
      heading: hasMore ? 'None on this page' : 'Nobody like this',
      text: hasMore
        ? 'There are more consumers to look through: go on to the next page.'
        : 'No consumer fits all of these filters.',
    },
  };
  return listCard(list, request);
}

const columnsFor = (viewer: Viewer): Column<Consumer>[] => [
  ['Name', ({ id, name }) => link(consumerPath(id), foreign(name, NAME_CHARACTERS))],
  ['State', (consumer) => consumerBadge(consumer, viewer)],
  ['May read', ({ grants }) => grantWords(grants, LABELS)],
  ['Active keys', (consumer) => count(activeKeys(consumer, viewer.nowMs).length), 'number'],
  ['Next expiry', (consumer) => expiryWords(consumer, viewer)],
  ['Last used', (consumer) => lastUsedWords(consumer, viewer)],
];

const CONSUMER_STATUS_WORDS: Readonly<Record<ConsumerStatus, Standing>> = {
  revoked: { urgency: 'mute', title: 'Revoked' },
  disabled: { urgency: 'mute', title: 'Disabled' },
  'no-key': { urgency: 'warn', title: 'No key' },
  'in-rotation': { urgency: 'wait', title: 'In rotation' },
  active: { urgency: 'ok', title: 'Active' },
};

export function consumerBadge(
  consumer: Consumer,
  { nowMs }: Viewer,
  look: { fill?: boolean } = {},
): Html {
  return badgeOf(CONSUMER_STATUS_WORDS[statusAt(consumer, nowMs)], look);
}

/** Grants in words and at most so many labels. */
export function grantWords(grants: readonly Grant[], labelsMax = Infinity): HtmlValue {
  if (grants.length === 0) return note('nothing yet');
  const catalog = grantOf(grants, 'catalog:read');
  const leads = grantOf(grants, 'leads:read');
  return html`${leads && leadWords(leads, labelsMax)}${leads && catalog && ', '}${
    catalog && html`catalog of ${foreign(catalog.workspace ?? '', 60)}`
  }`;
}

function leadWords({ labels }: Grant, labelsMax: number): HtmlValue {
  if (labels === undefined) return 'all leads';
  const more = labels.length - labelsMax;
  const shown = labels.slice(0, labelsMax);
  return html`${shown.map((label) => html`${tag(foreign(label, 60))} `)}${more > 0 && note(`and ${more} more`)}`;
}

/** End of the first of its keys. */
export function expiryWords(consumer: Consumer, viewer: Viewer): HtmlValue {
  const end = nextExpiry(consumer, viewer.nowMs);
  if (end === undefined) return 'never';
  const isOverlap = consumer.keys.some((key) => key.expiresAt === end && key.replacedBy);
  if (isOverlap) return html`${ago(end, viewer)}${note('end of overlap')}`;
  return endsSoon({ expiresAt: end }, viewer.nowMs)
    ? badge('warn', ago(end, viewer))
    : time(end, viewer, 'day');
}

/** Last use of any of its keys. */
export function lastUsedWords({ keys }: Pick<Consumer, 'keys'>, viewer: Viewer): HtmlValue {
  const uses = keys.flatMap(({ lastUsedAt }) => lastUsedAt ?? []);
  return uses.length === 0 ? 'never' : ago(Math.max(...uses), viewer);
}
