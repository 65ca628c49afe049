import { z } from 'zod';
import { isSearchable, SEARCH_TERMS_MAX } from '#catalog/reading/search-terms.ts';
import { refuse } from '#shared/errors.ts';
import type { PortalPage } from '../../page.ts';
import { may } from '../../person.ts';
import type { PortalPerson } from '../../person.ts';
import type { PortalRoutes, WrongFilters } from '../../routes/route-types.ts';
import type { PortalFile } from '../../routes/send-page.ts';
import { html } from '../../html.ts';
import { code, cut, link } from '../../shell/parts.ts';
import { artifactPage, artifactQuery, ofArtifact } from './artifact/artifact-page.ts';
import { addDrafts } from './drafts.ts';
import { addLifecycle } from './lifecycle.ts';
import { catalogListView } from './list-view.ts';
import { addPublish } from './publish.ts';
import { CATALOG_PATH, catalogQuery, NEW_PATH, toFilters } from './query.ts';
import type { CatalogQuery } from './query.ts';
import type { CatalogPagesDeps } from './versions.ts';

const PAGE_ARTIFACTS = 50;

/** The catalog: `/portal/catalog` and what lies below. */
export function catalogPages(portal: PortalRoutes, deps: CatalogPagesDeps): void {
  portal.page(
    CATALOG_PATH,
    { scope: 'catalog:read', query: catalogQuery, isList: true },
    (request) => listPage(deps, request),
  );
  const one = `${CATALOG_PATH}/:id`;
  portal.page(one, { ...ofArtifact, query: artifactQuery }, ({ person, params: { id }, query }) =>
    artifactPage(deps, { person, id, query }),
  );
  portal.page(`${one}/spec`, { ...ofArtifact, query: specQuery }, ({ person, params, query }) =>
    specFile(deps, person, { ...params, ...query }),
  );
  addDrafts(portal, deps);
  addPublish(portal, deps);
  addLifecycle(portal, deps);
}

const specQuery = z.strictObject({ version: z.string() });

async function specFile(
  { catalog }: CatalogPagesDeps,
  { workspaceId }: PortalPerson,
  ref: { id: string; version: string },
): Promise<PortalFile> {
  const { view, text } = await catalog.readSpec({ workspaceId }, { ...ref, format: 'json' });
  const { id, version } = view.record;
  return {
    fileName: `${id}-${version}.json`,
    mediaType: 'application/json',
    content: text,
  };
}

async function listPage(
  { catalog, clock }: CatalogPagesDeps,
  { person, query, wrong }: { person: PortalPerson; query: CatalogQuery; wrong: WrongFilters },
): Promise<PortalPage> {
  const { workspaceId, timeZone } = person;
  const problems = catalog.problemsInFilter(query);
  if (problems.length > 0) refuse(problems);
  const searchProblem = searchProblemOf(query);
  const found =
    searchProblem === undefined
      ? await catalog.list({ workspaceId }, toRequest(query, PAGE_ARTIFACTS))
      : { items: [], pagination: { hasMore: false } };
  const mayWrite = may(person, 'catalog:write');
  const words = catalog.words();
  const facts = { ...found, query, wrong, words, mayWrite, searchProblem };
  return {
    title: 'Catalog',
    section: 'catalog',
    meta: [html`Workspace ${code(cut(workspaceId, 60))}`],
    ...(mayWrite && { actions: link({ href: NEW_PATH, text: 'Create draft', look: 'primary' }) }),
    body: catalogListView(facts, { timeZone, nowMs: clock.now() }),
    ...(searchProblem !== undefined && { hasProblems: true, status: 422 }),
  };
}

function toRequest(query: CatalogQuery, limit: number) {
  const { cursor } = query;
  return { ...toFilters(query), limit, ...(cursor !== undefined && { cursor }) };
}

function searchProblemOf({ q }: CatalogQuery): string | undefined {
  if (q === undefined || isSearchable(q)) return undefined;
  return `Search for 1 to ${SEARCH_TERMS_MAX} words of letters and digits.`;
}
