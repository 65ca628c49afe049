import { z } from 'zod';
import type { Catalog } from '#catalog/index.ts';
import type { Reader as CatalogReader } from '#catalog/reading/read-catalog.ts';
import type { VersionView } from '#catalog/version/version-view.ts';
import { isTrackportError } from '#shared/errors.ts';
import { cursorParameter, pageOf, present, textFilter, withQuery } from '../../../address.ts';
import { may, type PortalPage, type PortalPerson } from '../../../page.ts';
import { html } from '../../../html.ts';
import { code, foreign, link } from '../../../shell/parts.ts';
import type { PageRequest } from '../../../routes/route-types.ts';
import type { PagesContext } from '../../context.ts';
import { artifactView } from './artifact-view.ts';
import { artifactPath, groupPathOf, NEW_PATH } from '../query.ts';
import { lifecycleBadge } from '../words.ts';

export const ofArtifact = {
  scope: 'catalog:read',
  params: z.object({ id: z.string() }),
} as const;

export const artifactQuery = z.strictObject({
  version: textFilter(),
  cursor: cursorParameter,
  from: textFilter(),
  to: textFilter(),
});

type ArtifactQuery = z.output<typeof artifactQuery>;

const PAGE_VERSIONS = 25;
const LAST_CHANGES = 6;

/** The page of one artifact, about one of its versions. */
export async function artifactPage(
  { catalog }: PagesContext,
  { person, params: { id }, query, reader }: PageRequest<ArtifactQuery, { id: string }>,
): Promise<PortalPage> {
  const byDefault = await readDefault(catalog, person, id);
  const defaultVersion = byDefault?.record.version;
  const version = query.version ?? defaultVersion ?? (await highestVersion(catalog, person, id));
  const shown = await catalog.read(person, { id, version, withSpec: true });
  const { items: entries } = await catalog.listAudit(person, { id, limit: LAST_CHANGES });
  const { from, to } = query;
  const isCompared = from !== undefined || to !== undefined;
  const diff = isCompared
    ? await catalog.diff(person, { id, ...present({ from, to }) })
    : undefined;
  const { cursor } = query;
  const page = { id, ...pageOf(PAGE_VERSIONS, cursor) };
  const { items: versions, pagination } = await catalog.listVersions(person, page);
  const isDefaultSet = byDefault?.isSetDefault ?? false;
  const which = { shown, versions, pagination, cursor, defaultVersion, isDefaultSet };
  const body = artifactView({ ...which, diff, person, entries }, reader);
  return { ...headOf(shown, person, defaultVersion), body };
}

/** Stands for an artifact of which no version can be read without its name. @throws {artifact-not-found} */
async function highestVersion(catalog: Catalog, reader: CatalogReader, id: string) {
  const { items } = await catalog.listVersions(reader, { id, limit: 1 });
  return items[0]?.version ?? '';
}

/** The version that a read without one returns, if any. */
export async function readDefault(
  catalog: Catalog,
  reader: CatalogReader,
  id: string,
): Promise<VersionView | undefined> {
  try {
    return await catalog.read(reader, { id, withSpec: false });
  } catch (error) {
    if (isTrackportError(error) && error.code === 'no-published-version') return undefined;
    throw error;
  }
}

function headOf({ record }: VersionView, person: PortalPerson, defaultVersion: string | undefined) {
  const { id, version, title, type, owner, groupPath, lifecycle } = record;
  const group = groupPath !== undefined && { href: groupPathOf(groupPath), text: groupPath };
  const created = withQuery(NEW_PATH, { id, version });
  return {
    title,
    section: 'catalog',
    crumbs: group ? [group] : [],
    badge: lifecycleBadge(lifecycle, { fill: true }),
    meta: [
      code(id),
      type,
      defaultVersion === undefined
        ? 'No default version'
        : html`Default ${link(artifactPath(id, { version: defaultVersion }), code(defaultVersion))}`,
      foreign(owner, 60),
    ],
    ...(may(person, 'catalog:write') && {
      actions: link(created, 'Create version', { look: 'button' }),
    }),
  } as const;
}
