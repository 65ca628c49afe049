import { CATALOG_PATH, SECTIONS, NEW_DRAFT_PATH, artifactPath } from '../../paths.ts';
import type { Catalog } from '#catalog/index.ts';
import { type VersionView, readView } from '#catalog/version/version-view.ts';
import { LIFECYCLE_WORDS, groupPathOf } from './catalog-words.ts';
import { page } from '../../routes/page-route.ts';
import { type PortalPerson, may } from '../../page.ts';
import { artifactView } from './artifact-view.ts';
import { badgeOf, code, foreign, link } from '../../shell/elements.ts';
import { cursorFilter, pageOf, present, textFilter, withQuery } from '../../address.ts';
import { diffVersions } from '#catalog/diff/diff-versions.ts';
import { html } from '../../html.ts';
import { listVersions, readSpec, listAudit } from '#catalog/reading/read-catalog.ts';
import { readDefault } from './version-actions.ts';
import { readUsage } from '#catalog/usage/read-usage.ts';
import { z } from 'zod';
const params = z.object({ id: z.string() });

const artifactQuery = z.strictObject({
  version: textFilter(),
  cursor: cursorFilter,
  from: textFilter(),
  to: textFilter(),
});

const PAGE_VERSIONS = 25;
const LAST_CHANGES = 6;

/** `/portal/catalog/:id`: one artifact, about one of its versions. */
export const artifactPage = page({
  path: `${CATALOG_PATH}/:id`,
  scope: SECTIONS.catalog.scope,
  params,
  query: artifactQuery,
  show: async ({ catalog }, { person, params: { id }, query, viewer }) => {
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
    const part = { id, ...pageOf(PAGE_VERSIONS, cursor) };
    const { items: versions, pagination } = await listVersions(catalog, person, part);
    const isDefaultSet = byDefault?.isSetDefault ?? false;
    const which = { shown, versions, pagination, cursor, defaultVersion, isDefaultSet };
    const body = artifactView({ ...which, diff, person, entries, usage }, viewer);
    return { ...headOf(shown, person, defaultVersion), body };
  },
});

/** The spec of a version. */
export const specFile = page({
  path: `${CATALOG_PATH}/:id/spec`,
  scope: SECTIONS.catalog.scope,
  params,
  query: z.strictObject({ version: z.string() }),
  show: async ({ catalog }, { person, params: { id }, query: { version } }) => {
    const { view, text } = await readSpec(catalog, person, { id, version, format: 'json' });
    const { record } = view;
    const fileName = `${record.id}-${record.version}.json`;
    return { fileName, mediaType: 'application/json', content: text };
  },
});

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
