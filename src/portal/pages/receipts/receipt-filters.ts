/** Filters of the list of receipts, and of a replay of all that it finds: in an address, in a form and in words. */
import { z } from 'zod';
import { parseLeadId } from '#leads/model/identity.ts';
import type { ReceiptFilter } from '#partners/receipts/read-receipts.ts';
import {
  type Outcome,
  outcomes,
  type ReceiptStatus,
  receiptStatuses,
  IDENTIFIER_CHARACTERS_MAX,
} from '#partners/receipts/receipt.ts';
import { PARTNER_ID_CHARACTERS_MAX } from '#shared/ids.ts';
import { eventOutcomes, receiptStates } from '#shared/outcomes/events.ts';
import { cursorFilter, instantFilter, oneOfFilter, textFilter, spanOf } from '../../shell/list.ts';
import { receiptFilters } from '../../paths.ts';
import { cut } from '../../shell/elements.ts';

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
  return {
    ...same,
    leadId: number,
    isAcknowledged: acknowledged === 'no' ? false : undefined,
    ...spanOf({ from, to }),
  };
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
