import { outcomes, receiptStatuses, type ReceiptSummary } from '#partners/receipts/receipt.ts';
import { partnerPath } from '../partners/query.ts';
import { html, type Html } from '../../html.ts';
import type { EmptyFacts } from '../../shell/card.ts';
import { chips } from '../../shell/forms.ts';
import { code, cut, foreign, hidden, link, note } from '../../shell/parts.ts';
import { type Filter, listCard, type Listed } from '../../shell/list.ts';
import type { Column } from '../../shell/table.ts';
import { counted, type Reader, time } from '../../shell/times.ts';
import {
  givenFilters,
  type Identifier,
  identifiers,
  receiptPath,
  RECEIPTS_PATH,
  type ReceiptsFilters,
  receiptsPath,
  type ReceiptsQuery,
} from './query.ts';
import { OUTCOME_WORDS, outcomeBadges, shortId, STATUS_WORDS } from './words.ts';

export type ReceiptListFacts = Listed<ReceiptSummary, ReceiptsQuery> & {
  /** Ids of the partners in the configuration. */
  partnerIds: readonly string[];
};

const TYPE_CHARACTERS_MAX = 40;
const CHIP_CHARACTERS_MAX = 60;

/** What came in, and what did not end well. */
export function receiptListView(found: ReceiptListFacts, reader: Reader): Html {
  const { cursor: _cursor, ...filtered } = found.query;
  return listCard({
    ...found,
    pathOf: receiptsPath,
    label: 'Filter receipts',
    filters: filtersFor(found),
    chips: filterChips(filtered),
    caption: 'Receipts, newest first',
    columns: columnsFor(reader),
    summary: `${counted(found.items.length, 'receipt')} on this page, newest first`,
    none: noDelivery(found.partnerIds),
    nothingFits: nothingFits(filtered),
  });
}

const BY_WORDS: Readonly<Record<Identifier, string>> = {
  leadId: 'Lead number',
  externalId: 'External id',
  eventId: 'Event id',
  correlationId: 'Correlation id',
};

function filtersFor({ query, wrong, partnerIds }: ReceiptListFacts): Filter[] {
  const { partnerId } = query;
  const by = identifiers.find((name) => (query[name] ?? wrong[name]) !== undefined);
  const known = partnerId === undefined || partnerIds.includes(partnerId);
  const partners = known ? partnerIds : [partnerId, ...partnerIds];
  const choices = (words: Readonly<Record<string, { words: string }>>, values: readonly string[]) =>
    values.map((value) => ({ value, label: words[value]?.words }));
  return [
    {
      name: 'partnerId',
      label: 'Partner',
      any: 'Any',
      choices: partners.map((id) => ({ value: id, label: cut(id) })),
    },
    {
      name: 'status',
      label: 'Status',
      any: 'Any',
      choices: choices(STATUS_WORDS, receiptStatuses),
    },
    {
      name: 'outcome',
      label: 'An event is',
      any: 'Anything',
      choices: choices(OUTCOME_WORDS, outcomes),
    },
    { name: 'from', label: 'From', type: 'date' },
    { name: 'to', label: 'To', type: 'date' },
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
      value: by && query[by],
      ...(by && wrong[by]),
    },
  ];
}

const CHIP_WORDS: Readonly<Record<keyof ReceiptsFilters, string>> = {
  partnerId: 'partner',
  status: 'status',
  outcome: 'an event is',
  acknowledged: 'acknowledged',
  from: 'from',
  to: 'to',
  leadId: 'lead',
  externalId: 'external id',
  eventId: 'event id',
  correlationId: 'correlation id',
};

function filterChips(filtered: ReceiptsFilters): Html {
  const suggestions = [
    { label: 'Only dead letters', outcome: 'FAILED' },
    { label: 'Only unmatched', outcome: 'UNMATCHED' },
  ] as const;
  return chips({
    chips: filterWords(filtered).map(([name, label]) => ({
      label,
      href: receiptsPath({ ...filtered, [name]: undefined }),
    })),
    suggestions: suggestions
      .filter(({ outcome }) => outcome !== filtered.outcome)
      .map(({ label, outcome }) => ({ label, href: receiptsPath({ ...filtered, outcome }) })),
  });
}

/** Each filter in force by its name, with how it reads. */
export function filterWords(filtered: ReceiptsFilters): [keyof ReceiptsFilters, string][] {
  const { status, outcome } = filtered;
  return givenFilters(filtered).map(([name, value]) => {
    if (name === 'status' && status) return [name, `status ${STATUS_WORDS[status].words}`];
    if (name === 'outcome' && outcome) return [name, `an event is ${OUTCOME_WORDS[outcome].words}`];
    return [name, `${CHIP_WORDS[name]} ${cut(value, CHIP_CHARACTERS_MAX)}`];
  });
}

function nothingFits(filtered: ReceiptsFilters): EmptyFacts {
  const { outcome, status, from, to } = filtered;
  const rest = { ...filtered, outcome: undefined, status: undefined };
  return {
    id: 'nothing-fits',
    heading: 'No receipt matches',
    text: html`None has all of this:
    ${filterWords(filtered)
      .map(([, words]) => words)
      .join(', ')}.`,
    next: html`${
      (outcome ?? status) !== undefined &&
      link({ href: receiptsPath(rest), text: 'However it ended', look: 'button' })
    }
    ${
      (from ?? to) !== undefined &&
      link({
        href: receiptsPath({ ...filtered, from: undefined, to: undefined }),
        text: 'At any time',
        look: 'button',
      })
    }
    ${link({ href: RECEIPTS_PATH, text: 'Clear all filters' })}`,
  };
}

function noDelivery([partnerId]: readonly string[]): EmptyFacts {
  const address = `/api/v1/webhooks/partners/${partnerId ?? '{partnerId}'}/deletions`;
  return {
    id: 'no-delivery',
    heading: 'No delivery yet',
    text: html`Partners send deletions to ${code(address)}, signed with the secret of the
      configuration. To print a signed call as the partner would make it:
      <code>trackport sign</code>.`,
    next: link({
      href: '/portal/partners',
      text: partnerId === undefined ? 'How to configure partners' : 'Is each partner well?',
      look: 'primary',
    }),
  };
}

const columnsFor = (reader: Reader): Column<ReceiptSummary>[] => [
  {
    label: 'Receipt',
    kind: 'whole',
    cell: ({ id }) =>
      link({ href: receiptPath(id), text: html`${hidden('Receipt …')}${code(shortId(id))}` }),
  },
  { label: 'Received', kind: 'whole', cell: ({ receivedAt }) => time(receivedAt, reader) },
  { label: 'Partner', cell: partnerLink },
  {
    label: 'Event',
    cell: ({ path, eventType }) =>
      html`${foreign(eventType, TYPE_CHARACTERS_MAX)}${path === 'events' && note('to events')}`,
  },
  { label: 'Outcome', cell: outcomeBadges },
  {
    label: 'Next try',
    kind: 'whole',
    cell: ({ nextDueAt }) => (nextDueAt === undefined ? undefined : time(nextDueAt, reader)),
  },
];

function partnerLink({ partnerId }: ReceiptSummary): Html {
  return link({ href: partnerPath(partnerId), text: foreign(partnerId) });
}
