import { deliveryPath } from '#http/routes/partners.ts';
import { parseLeadId } from '#leads/model/identity.ts';
import { outcomes, receiptStatuses, type ReceiptSummary } from '#partners/receipts/receipt.ts';
import { eventOutcomes, receiptStates } from '#shared/outcomes/events.ts';
import { html, type Html } from '../../html.ts';
import {
  PARTNERS_PATH,
  RECEIPTS_PATH,
  SECTIONS,
  claimPath,
  partnerPath,
  receiptPath,
  receiptsPath,
} from '../../paths.ts';
import { page } from '../../routes/page-route.ts';
import type { EmptyCard } from '../../shell/card.ts';
import { code, cut, foreign, hidden, link, note } from '../../shell/elements.ts';
import { choicesOf, held } from '../../shell/forms.ts';
import {
  type ListRequest,
  type Filter,
  type Found,
  listCard,
  spanFilters,
  type Column,
} from '../../shell/list.ts';
import { counted, type Viewer, time } from '../../shell/times.ts';
import {
  filtersText,
  filterText,
  givenFilters,
  type Identifier,
  identifiers,
  type ReceiptsFilters,
  receiptsQuery,
  type ReceiptsQuery,
  toFilter,
} from './receipt-filters.ts';
import { outcomeBadges, shortId, wordsLink } from './receipt-words.ts';

const PAGE_RECEIPTS = 25;
const TYPE_CHARACTERS_MAX = 40;

/** `/portal/receipts`: what came in, and what became of it. */
export const receiptListPage = page({
  path: RECEIPTS_PATH,
  scope: SECTIONS.receipts.scope,
  query: receiptsQuery,
  isList: true,
  show: async ({ partners }, request) => {
    const { query } = request;
    const filter = toFilter(query);
    const [{ items, pagination }, known] = await Promise.all([
      partners.receipts.page({ filter, limit: PAGE_RECEIPTS, cursor: query.cursor }),
      partners.list(),
    ]);
    const partnerIds = known.map(({ id }) => id);
    return {
      title: 'Receipts',
      section: 'receipts',
      meta: [
        'One for each accepted delivery, on disk before the partner got its 202.',
        wordsLink(),
      ],
      actions: actionsFor(query, items.length > 0),
      body: receiptListView({ items, pagination, partnerIds }, request),
      isWaiting: items.some(({ outcomes: { PENDING = 0 } }) => PENDING > 0),
    };
  },
});

/** Only what failed or found nobody is ever worked again. */
function canHoldReplayable({ outcome, status }: ReceiptsFilters): boolean {
  if (status === 'PROCESSED') return false;
  return outcome === undefined || outcome === 'FAILED' || outcome === 'UNMATCHED';
}

/**
 * A replay where a filter narrows the list, for everything at once is never meant; and for one lead its
 * claim, which stays when its receipts are gone.
 */
function actionsFor(
  { cursor: _cursor, ...filters }: ReceiptsQuery,
  hasMatches: boolean,
): Html | undefined {
  if (givenFilters(filters).length === 0) return undefined;
  const number = filters.leadId === undefined ? undefined : parseLeadId(filters.leadId);
  const claim =
    number !== undefined &&
    link(claimPath(String(number)), `Does a deletion hide #${number}?`, { look: 'button' });
  const replay =
    hasMatches &&
    canHoldReplayable(filters) &&
    link(receiptsPath(filters, 'replay'), 'Replay all that match…', { look: 'button' });
  return html`${claim} ${replay}`;
}

/** Receipts, and what did not end well. `partnerIds`: those of the configuration. */
export function receiptListView(
  found: Found<ReceiptSummary> & { partnerIds: readonly string[] },
  request: ListRequest<ReceiptsQuery>,
): Html {
  const { cursor: _cursor, ...filtered } = request.query;
  const suggestions = [
    { label: 'Only dead letters', outcome: 'FAILED' },
    { label: 'Only unmatched', outcome: 'UNMATCHED' },
  ] as const;
  const list = {
    ...found,
    pathOf: receiptsPath,
    label: 'Filter receipts',
    filters: filtersFor(found.partnerIds, request),
    filterText,
    suggestions: suggestions
      .filter(({ outcome }) => outcome !== filtered.outcome)
      .map(({ label, outcome }) => ({ label, href: receiptsPath({ ...filtered, outcome }) })),
    caption: 'Receipts, newest first',
    columns: columnsFor(request.viewer),
    summary: `${counted(found.items.length, 'receipt')} on this page, newest first`,
    none: noDelivery(found.partnerIds),
    nothingFits: nothingFits(filtered),
  };
  return listCard(list, request);
}

const BY_WORDS: Readonly<Record<Identifier, string>> = {
  leadId: 'Lead number',
  externalId: 'External id',
  eventId: 'Event id',
  correlationId: 'Correlation id',
};

function filtersFor(partnerIds: readonly string[], request: ListRequest<ReceiptsQuery>): Filter[] {
  const { query } = request;
  const { partnerId } = query;
  const by = identifiers.find((name) => held(name, request, query[name]).value !== undefined);
  const known = partnerId === undefined || partnerIds.includes(partnerId);
  const partners = known ? partnerIds : [partnerId, ...partnerIds];
  return [
    {
      name: 'partnerId',
      label: 'Partner',
      any: 'Any',
      choices: partners.map((id) => ({ value: id, label: cut(id) })),
    },
    {
      name: 'status',
      label: 'Receipt is',
      any: 'Any',
      choices: choicesOf(receiptStatuses, receiptStates),
    },
    {
      name: 'outcome',
      label: 'An event is',
      any: 'Anything',
      choices: choicesOf(outcomes, eventOutcomes),
    },
    ...spanFilters,
    {
      name: 'by',
      label: 'Find by',
      value: by,
      choices: identifiers.map((value) => ({ value, label: BY_WORDS[value] })),
    },
    {
      name: 'id',
      label: 'Which is',
      type: 'search',
      isWide: true,
      ...(by && { ...held(by, request, query[by]), name: 'id' }),
    },
  ];
}

function nothingFits(filtered: ReceiptsFilters): EmptyCard {
  const { outcome, status, from, to } = filtered;
  const rest = { ...filtered, outcome: undefined, status: undefined };
  return {
    id: 'nothing-fits',
    heading: 'No receipt matches',
    text: html`None has all of this: ${filtersText(filtered)}.`,
    next: html`${
      (outcome ?? status) !== undefined &&
      link(receiptsPath(rest), 'However it ended', { look: 'button' })
    }
    ${
      (from ?? to) !== undefined &&
      link(receiptsPath({ ...filtered, from: undefined, to: undefined }), 'At any time', {
        look: 'button',
      })
    }
    ${link(RECEIPTS_PATH, 'Clear all filters')}`,
  };
}

function noDelivery([partnerId]: readonly string[]): EmptyCard {
  const address = deliveryPath(partnerId ?? '{partnerId}', 'deletions');
  return {
    id: 'no-delivery',
    heading: 'No delivery yet',
    text: html`Partners send deletions to ${code(address)}, signed with the secret of the
      configuration. To print a signed call as the partner would make it:
      <code>trackport sign</code>.`,
    next: link(
      PARTNERS_PATH,
      partnerId === undefined ? 'How to configure partners' : 'Is each partner well?',
      { look: 'primary' },
    ),
  };
}

const columnsFor = (viewer: Viewer): Column<ReceiptSummary>[] => [
  [
    'Receipt',
    ({ id }) => link(receiptPath(id), html`${hidden('Receipt …')}${code(shortId(id))}`),
    'whole',
  ],
  ['Received', ({ receivedAt }) => time(receivedAt, viewer), 'whole'],
  ['Partner', ({ partnerId }) => link(partnerPath(partnerId), foreign(partnerId))],
  [
    'Event',
    ({ path, eventType }) =>
      html`${foreign(eventType, TYPE_CHARACTERS_MAX)}${path === 'events' && note('to events')}`,
  ],
  ['Outcome', outcomeBadges],
  [
    'Next try',
    ({ nextDueAt }) => (nextDueAt === undefined ? undefined : time(nextDueAt, viewer)),
    'whole',
  ],
];
