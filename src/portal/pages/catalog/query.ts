import { z } from 'zod';
import { lifecycles } from '#catalog/version/artifact.ts';
import type { CatalogFilters } from '#catalog/version/read-catalog.ts';

export const CATALOG_PATH = '/portal/catalog';
/** No id can be a hyphen alone. */
export const NEW_PATH = `${CATALOG_PATH}/-/new`;

const TEXT_CHARACTERS_MAX = 512;

/** What a form leaves empty is not there. */
export const text = z
  .string('must be given once')
  .max(TEXT_CHARACTERS_MAX, `must have at most ${TEXT_CHARACTERS_MAX} characters`)
  .trim()
  .transform((value) => value || undefined)
  .optional();

const oneOf = <const Words extends readonly string[]>(words: Words) =>
  z
    .union([z.literal(''), z.enum(words, 'must be one of the list')])
    .transform((value) => value || undefined)
    .optional();

/** The address of the list. */
export const catalogQuery = z.strictObject({
  q: text,
  type: text,
  lifecycle: oneOf(lifecycles),
  owner: text,
  groupPath: text,
  source: text,
  projectId: text,
  versions: oneOf(['all']),
  cursor: text,
});

export type CatalogQuery = z.output<typeof catalogQuery>;

/** The filters that are given. */
export function toFilters({ cursor: _cursor, ...query }: CatalogQuery): CatalogFilters {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}

/** The list with these filters; undefined ones are left out. */
export function catalogPath(query: CatalogQuery): string {
  return withQuery(CATALOG_PATH, query);
}

type Address = Readonly<Record<string, string | undefined>>;

/** A path with what is given of a query. */
export function withQuery(path: string, query: Address): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  const search = new URLSearchParams(given).toString();
  return search === '' ? path : `${path}?${search}`;
}

/** A page or an action of one version. */
export function versionPath(id: string, version: string, below: string): string {
  return [artifactPath(id), 'versions', encodeURIComponent(version), below].join('/');
}

/** The page of one artifact. */
export function artifactPath(id: string, query: Address = {}): string {
  return withQuery(`${CATALOG_PATH}/${encodeURIComponent(id)}`, query);
}
