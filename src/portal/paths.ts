/** Addresses of all sections. Those of signing in stand with it. */
import type { Scope } from '#access/tokens.ts';
import { withQuery } from './address.ts';

/** In the order of the navigation; with a scope only for whoever has it. */
export const SECTIONS = {
  overview: { label: 'Overview', path: '/portal', scope: undefined },
  consumers: { label: 'Consumers', path: '/portal/consumers', scope: 'trackport:admin' },
  receipts: { label: 'Receipts', path: '/portal/receipts', scope: 'trackport:admin' },
  claims: { label: 'Claims', path: '/portal/claims', scope: 'trackport:admin' },
  partners: { label: 'Partners', path: '/portal/partners', scope: 'trackport:admin' },
  catalog: { label: 'Catalog', path: '/portal/catalog', scope: 'catalog:read' },
  audit: { label: 'Audit', path: '/portal/audit', scope: 'trackport:admin' },
} as const satisfies Record<string, { label: string; path: string; scope: Scope | undefined }>;

export type Section = keyof typeof SECTIONS;

export const sections = Object.keys(SECTIONS) as Section[];

/** Parameters of a list; undefined ones are left out. */
type Query = Readonly<Record<string, string | undefined>>;

export const CONSUMERS_PATH = SECTIONS.consumers.path;

export const consumersPath = (query: Query): string => withQuery(CONSUMERS_PATH, query);

/** One consumer, or what lies below it: as an address, or with names in place of ids as a route. */
export const consumerPath = (id: string, ...below: string[]): string =>
  [CONSUMERS_PATH, id, ...below].join('/');

export const RECEIPTS_PATH = SECTIONS.receipts.path;
export const WORDS_PATH = `${RECEIPTS_PATH}/words`;

/** Filters of the list of receipts, in the order of its form. */
export const receiptFilters = [
  'partnerId',
  'status',
  'outcome',
  'acknowledged',
  'from',
  'to',
  'leadId',
  'externalId',
  'eventId',
  'correlationId',
] as const;

type ReceiptsQuery = { [K in (typeof receiptFilters)[number] | 'cursor']?: string | undefined };

/** The list with these filters, or a page below it. */
export function receiptsPath(query: ReceiptsQuery, ...below: string[]): string {
  const given = [...receiptFilters, 'cursor' as const].map((name) => [name, query[name]]);
  return withQuery([RECEIPTS_PATH, ...below].join('/'), Object.fromEntries(given) as Query);
}

export const receiptPath = (id: string, ...below: string[]): string =>
  [RECEIPTS_PATH, encodeURIComponent(id), ...below].join('/');

export const CLAIMS_PATH = SECTIONS.claims.path;

/** The claim on the lead of this number, or what lies below it. */
export const claimPath = (number: string, ...below: string[]): string =>
  [CLAIMS_PATH, encodeURIComponent(number), ...below].join('/');

export const PARTNERS_PATH = SECTIONS.partners.path;

/** The place of one partner on the page that shows it. */
export const partnerPath = (id: string): string =>
  `${withQuery(PARTNERS_PATH, { id })}#${partnerAnchor(id)}`;

export const partnerAnchor = (id: string): string => `p-${id}`;

export const CATALOG_PATH = SECTIONS.catalog.path;
/** No id can be a hyphen alone. */
export const NEW_DRAFT_PATH = `${CATALOG_PATH}/-/new`;
export const VERSION_PATH = `${CATALOG_PATH}/:id/versions/:version`;

export const catalogPath = (query: Query): string => withQuery(CATALOG_PATH, query);

export const artifactPath = (id: string, query: Query = {}): string =>
  withQuery(`${CATALOG_PATH}/${encodeURIComponent(id)}`, query);

/** A page or an action of one version. */
export const versionPath = (id: string, version: string, below: string): string =>
  [artifactPath(id), 'versions', encodeURIComponent(version), below].join('/');

export const AUDIT_PATH = SECTIONS.audit.path;

/** Entries about one subject. */
export const auditOf = (subject: string): string =>
  `${AUDIT_PATH}?on=${encodeURIComponent(subject)}`;
