import { z } from 'zod';
import { lifecycles } from '#catalog/version/artifact.ts';
import type { CatalogFilters } from '#catalog/version/read-catalog.ts';
import { cursorParameter, oneOfFilter, textFilter, withQuery } from '../../address.ts';

export const CATALOG_PATH = '/portal/catalog';
/** No id can be a hyphen alone. */
export const NEW_PATH = `${CATALOG_PATH}/-/new`;

/** The address of the list. */
export const catalogQuery = z.strictObject({
  q: textFilter(),
  type: textFilter(),
  lifecycle: oneOfFilter(lifecycles),
  owner: textFilter(),
  groupPath: textFilter(),
  source: textFilter(),
  projectId: textFilter(),
  versions: oneOfFilter(['all']),
  cursor: cursorParameter,
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

/** A page or an action of one version. */
export function versionPath(id: string, version: string, below: string): string {
  return [artifactPath(id), 'versions', encodeURIComponent(version), below].join('/');
}

/** The page of all who list an artifact. */
export function listersPath(id: string, cursor?: string): string {
  return withQuery(`${artifactPath(id)}/listers`, { cursor });
}

/** The page of one artifact. */
export function artifactPath(
  id: string,
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  return withQuery(`${CATALOG_PATH}/${encodeURIComponent(id)}`, query);
}
