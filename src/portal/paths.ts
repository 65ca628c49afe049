/** Addresses of all sections, and those to come back to. Those of signing in stand with it. */
import type { Scope } from '#access/tokens.ts';

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

/** A path with what is given of a query. */
export function withQuery(path: string, query: Query): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  const search = new URLSearchParams(given).toString();
  return search === '' ? path : `${path}?${search}`;
}

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
export const auditPath = (subject: string): string =>
  `${AUDIT_PATH}?on=${encodeURIComponent(subject)}`;

const PATH_CHARACTERS_MAX = 2000;
const OWN_PATH = /^\/portal(?:[/?][\x21-\x5b\x5d-\x7e]*)?$/;

/** Browsers resolve dot segments, encoded ones as well, and read `//` as a host. */
const ESCAPES_PORTAL = /\/\/|\/(?:\.|%2e){1,2}(?:\/|$)/i;

/**
 * A path of the portal to come back to, out of what anybody can put into an address; else its first
 * page. The parts of sign-in lead nowhere, and a path with `\` or `//` could leave this service.
 */
export function ownPath(given: unknown): string {
  if (typeof given !== 'string' || given.length > PATH_CHARACTERS_MAX) return '/portal';
  const [path = ''] = given.split('?');
  const isOwn = OWN_PATH.test(given) && !ESCAPES_PORTAL.test(path);
  const isSignIn = /^\/portal\/(?:sign-in|sign-out|signed-out|callback)/.test(path);
  return isOwn && !isSignIn ? given : '/portal';
}

/** Address of the sign-in that leads back to `path`. */
export function signInPath(path: string): string {
  return path === '/portal' ? '/portal/sign-in' : `/portal/sign-in?to=${encodeURIComponent(path)}`;
}

/** `path` with one more parameter, before a fragment if it has one. */
export function withParameter(path: string, name: string, value: string): string {
  const [before = '', ...fragment] = path.split('#');
  const mark = before.includes('?') ? '&' : '?';
  const rest = fragment.length > 0 ? `#${fragment.join('#')}` : '';
  return `${before}${mark}${name}=${encodeURIComponent(value)}${rest}`;
}
