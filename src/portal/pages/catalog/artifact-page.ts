import { CATALOG_PATH, NEW_DRAFT_PATH, artifactPath } from '../../paths.ts';
import type { Catalog } from '#catalog/index.ts';
import { type VersionView, readView } from '#catalog/version/version-view.ts';
import { LIFECYCLE_WORDS, groupPathOf } from './catalog-words.ts';
import type { PageRequest, PortalRoutes } from '../../routes/page-actions.ts';
import type { PagesContext } from '../../context.ts';
import { type PortalPage, type PortalPerson, may } from '../../page.ts';
import { artifactView } from './artifact-view.ts';
import { badgeOf, code, foreign, link } from '../../shell/elements.ts';
import { cursorFilter, pageOf, present, textFilter, withQuery } from '../../address.ts';
import { diffVersions } from '#catalog/diff/diff-versions.ts';
import { html } from '../../html.ts';
import { listVersions, readSpec, listAudit } from '#catalog/reading/read-catalog.ts';
import { readDefault } from './version-actions.ts';
import { readUsage } from '#catalog/usage/read-usage.ts';
import { z } from 'zod';
const ofArtifact = {
  scope: 'catalog:read',
  params: z.object({ id: z.string() }),
} as const;

const artifactQuery = z.strictObject({
  version: textFilter(),
  cursor: cursorFilter,
  from: textFilter(),
  to: textFilter(),
});

type ArtifactQuery = z.output<typeof artifactQuery>;

const PAGE_VERSIONS = 25;
const LAST_CHANGES = 6;

/** `/portal/catalog/:id`: one artifact, about one of its versions, and the spec of a version as a file. */
export function artifactPages(portal: PortalRoutes, context: PagesContext): void {
  const path = `${CATALOG_PATH}/:id`;
  portal.page(path, { ...ofArtifact, query: artifactQuery }, (request) =>
    artifactPage(context, request),
  );
  const ofSpec = { ...ofArtifact, query: z.strictObject({ version: z.string() }) };
  portal.page(`${path}/spec`, ofSpec, async ({ person, params, query }) => {
    const ref = { ...params, ...query, format: 'json' } as const;
    const { view, text } = await readSpec(context.catalog, person, ref);
    const { id, version } = view.record;
    return { fileName: `${id}-${version}.json`, mediaType: 'application/json', content: text };
  });
}

async function artifactPage(
  { catalog }: PagesContext,
  { person, params: { id }, query, viewer }: PageRequest<ArtifactQuery, { id: string }>,
): Promise<PortalPage> {
  const byDefault = await readDefault(catalog, person, id);
  const defaultVersion = byDefault?.record.version;
  const version = query.version ?? defaultVersion ?? (await highestVersion(catalog, person, id));
  const shown = await readView(catalog.db, person, { id, version, withSpec: true });
  const { items: entries } = await listAudit(catalog, person, { id, limit: LAST_CHANGES });
  const { from, to } = query;
  const isCompared = from !== undefined || to !== undefined;
  const diff = isCompared
    ? await diffVersions(catalog, person, { id, ...present({ from, to }) })
    : undefined;
  const mayName = (): boolean => may(person, 'trackport:admin');
  const usage = await readUsage(catalog, person, { id, mayName });
  const { cursor } = query;
  const page = { id, ...pageOf(PAGE_VERSIONS, cursor) };
  const { items: versions, pagination } = await listVersions(catalog, person, page);
  const isDefaultSet = byDefault?.isSetDefault ?? false;
  const which = { shown, versions, pagination, cursor, defaultVersion, isDefaultSet };
  const body = artifactView({ ...which, diff, person, entries, usage }, viewer);
  return { ...headOf(shown, person, defaultVersion), body };
}

/** Stands for an artifact of which no version can be read without its name. @throws {artifact-not-found} */
async function highestVersion(catalog: Catalog, person: PortalPerson, id: string) {
  const { items } = await listVersions(catalog, person, { id, limit: 1 });
  return items[0]?.version ?? '';
}

function headOf({ record }: VersionView, person: PortalPerson, defaultVersion: string | undefined) {
  const { id, version, title, type, owner, groupPath, lifecycle } = record;
  const group = groupPath !== undefined && { href: groupPathOf(groupPath), text: groupPath };
  const created = withQuery(NEW_DRAFT_PATH, { id, version });
  return {
    title,
    section: 'catalog',
    crumbs: group ? [group] : [],
    badge: badgeOf(LIFECYCLE_WORDS[lifecycle], { fill: true }),
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
