/** Addresses of the pages of receipts, and the words that stand on them. */
import type { Certificate } from '#partners/receipts/certificate.ts';
import { z } from 'zod';
import { parseLeadId } from '#leads/model/identity.ts';
import {
  type Outcome,
  outcomes,
  type ReceiptStatus,
  receiptStatuses,
  type ReceiptDetail,
  type ReceiptSummary,
  IDENTIFIER_CHARACTERS_MAX,
} from '#partners/receipts/receipt.ts';
import { byUrgency } from '#shared/outcomes/entry.ts';
import { eventOutcomes, receiptStates } from '#shared/outcomes/events.ts';
import { PARTNER_ID_CHARACTERS_MAX } from '#shared/ids.ts';
import type { ReceiptFilter } from '#partners/receipts/receipt-conditions.ts';
import { cursorFilter, instantFilter, oneOfFilter, present, textFilter } from '../../address.ts';
import { cut, badge, link, note } from '../../shell/elements.ts';
import { spanOf, count } from '../../shell/times.ts';
import { html, type Html, type HtmlValue } from '../../html.ts';
import { type PortalPerson } from '../../page.ts';
import type { PortalContext } from '../../context.ts';
import { WORDS_PATH, receiptFilters } from '../../paths.ts';

const identifier = textFilter(IDENTIFIER_CHARACTERS_MAX);

/** Identifiers that a receipt can be found by, in the order of the form. */
export const identifiers = ['leadId', 'externalId', 'eventId', 'correlationId'] as const;

export type Identifier = (typeof identifiers)[number];

const filters = {
  partnerId: textFilter(PARTNER_ID_CHARACTERS_MAX),
  status: oneOfFilter(receiptStatuses),
  outcome: oneOfFilter(outcomes),
  acknowledged: oneOfFilter(['no']),
  from: instantFilter,
  to: instantFilter,
  leadId: identifier,
  externalId: identifier,
  eventId: identifier,
  correlationId: identifier,
  /** Which identifier `id` is: the form has one field for all of them. */
  by: oneOfFilter(identifiers),
  id: identifier,
};

type GivenFilters = z.output<z.ZodObject<typeof filters & { cursor: typeof cursorFilter }>>;

/** The filters of a list, and where the page starts: what a form leaves empty is none. */
export type ReceiptsQuery = Omit<GivenFilters, 'by' | 'id'>;

/** Those of a list or a replay. */
export type ReceiptsFilters = Omit<ReceiptsQuery, 'cursor'>;

/** The address of the list. */
export const receiptsQuery = z
  .strictObject({ ...filters, cursor: cursorFilter })
  .transform((given, context): ReceiptsQuery => settle(given, context));

/** The form of a replay: the filters, and what was typed. */
export const receiptsForm = z
  .object({
    ...filters,
    cursor: cursorFilter.transform(() => undefined),
    typed: z.string().trim(),
  })
  .transform(({ typed, ...given }, context) => ({ typed, filters: settle(given, context) }));

function settle({ by, id, ...given }: GivenFilters, context: z.RefinementCtx): ReceiptsQuery {
  const query = by === undefined || id === undefined ? given : { ...given, [by]: id };
  const { leadId } = query;
  if (leadId === undefined || parseLeadId(leadId) !== undefined) return query;
  const path = given.leadId === undefined ? ['id'] : ['leadId'];
  context.addIssue({ code: 'custom', path, message: 'must be the number of an issue' });
  return z.NEVER;
}

export function toFilter(query: ReceiptsQuery): ReceiptFilter {
  const { from, to, leadId, acknowledged, cursor: _cursor, ...same } = query;
  const number = leadId === undefined ? undefined : parseLeadId(leadId);
  return present({
    ...same,
    leadId: number,
    isAcknowledged: acknowledged === 'no' ? (false as const) : undefined,
    ...spanOf({ from, to }),
  });
}

/** The filters in force, as the address has them, in the order of the form. */
export function givenFilters(query: ReceiptsQuery): [keyof ReceiptsFilters, string][] {
  return receiptFilters.flatMap((name): [keyof ReceiptsFilters, string][] => {
    const value = query[name];
    return value === undefined ? [] : [[name, value]];
  });
}

const FILTER_WORDS: Readonly<Record<keyof ReceiptsFilters, string>> = {
  partnerId: 'partner',
  status: 'the receipt is',
  outcome: 'an event is',
  acknowledged: 'acknowledged',
  from: 'from',
  to: 'to',
  leadId: 'lead',
  externalId: 'external id',
  eventId: 'event id',
  correlationId: 'correlation id',
};

/** A filter in force, in words. */
export function filterText(name: string, value: string): string {
  if (name === 'status') return `the receipt is ${receiptStates[value as ReceiptStatus].title}`;
  if (name === 'outcome') return `an event is ${eventOutcomes[value as Outcome].title}`;
  return `${FILTER_WORDS[name as keyof ReceiptsFilters]} ${cut(value, 60)}`;
}

/** All filters in force, in a sentence. */
export function filtersText(query: ReceiptsQuery): string {
  return givenFilters(query)
    .map(([name, value]) => filterText(name, value))
    .join(', ');
}

/** To what these words mean. */
export const wordsLink = (): Html => link(WORDS_PATH, 'What the words mean');

/** `2 failed, 1 done`, what needs somebody first. */
export function countWords(counts: Partial<Record<Outcome, number>>): string {
  return counted(counts)
    .map(([outcome, n]) => `${count(n)} ${eventOutcomes[outcome].title.toLowerCase()}`)
    .join(', ');
}

/** The outcomes of a receipt's events as badges; of a single event without a number. */
export function outcomeBadges({ outcomes: counts }: Pick<ReceiptSummary, 'outcomes'>): Html {
  const given = counted(counts);
  const sum = given.reduce((all, [, n]) => all + n, 0);
  if (sum === 0) return note('no event');
  return html`<span class="row"
    >${given.map(([outcome, n]) => {
      const { urgency, title } = eventOutcomes[outcome];
      return html`${badge(urgency, sum === 1 ? title : `${count(n)} ${title.toLowerCase()}`)} `;
    })}</span
  >`;
}

/** From what needs somebody to what is over. */
function counted(counts: Partial<Record<Outcome, number>>): [Outcome, number][] {
  return byUrgency(eventOutcomes).flatMap((outcome): [Outcome, number][] => {
    const n = counts[outcome] ?? 0;
    return n === 0 ? [] : [[outcome, n]];
  });
}

/** Tells receipts of one minute apart: ids begin with the time. */
export function shortId(id: string): string {
  return id.slice(-8);
}

export type IssueAddress = PortalContext['tracker']['issueAddress'];

/** Leads of a page. */
export type Leads = {
  issueAddress: IssueAddress;
  /** Numbers of those that a deletion hides now. */
  claimed: ReadonlySet<string>;
};

/** A receipt as its page shows it. */
export type ShownReceipt = {
  receipt: ReceiptDetail;
  person: PortalPerson;
  leads: Leads;
  /** Why nothing that is under way gets done now. */
  hold?: Html | undefined;
  /** Number of events before the first that is shown. */
  start: number;
  /** For the partner; undefined once it is too old. */
  statusAddress?: string;
  /** As long as that is not. */
  certificate?: Certificate;
};

const LINKS_MAX = 10;

/** `#24`, as a link where the tracker's address is known. */
export function issueLink(number: string, issueAddress: IssueAddress): HtmlValue {
  const href = issueAddress(number);
  return href === undefined ? `#${number}` : link(href, `#${number}`);
}

/** `#24, #25 and 16 more`. */
export function issueLinks(numbers: readonly string[], issueAddress: IssueAddress): Html {
  const shown = numbers.slice(0, LINKS_MAX);
  const more = numbers.length - shown.length;
  return html`${shown.map(
    (number, at) => html`${at > 0 && ', '}${issueLink(number, issueAddress)}`,
  )}${more > 0 && ` and ${count(more)} more`}`;
}
