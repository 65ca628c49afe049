import type { Catalog } from '#catalog/index.ts';
import { isSearchable, SEARCH_TERMS_MAX } from '#catalog/version/search-terms.ts';
import type { Clock } from '#shared/clock.ts';
import { refuse } from '#shared/errors.ts';
import type { PortalPage } from '../../page.ts';
import { may } from '../../person.ts';
import type { PortalPerson } from '../../person.ts';
import type { PortalRoutes } from '../../routes/route-types.ts';
import { html } from '../../html.ts';
import { code, cut, link } from '../../shell/parts.ts';
import { catalogListView } from './list-view.ts';
import { CATALOG_PATH, catalogQuery, NEW_PATH, toFilters } from './query.ts';
import type { CatalogQuery } from './query.ts';

export type CatalogPagesDeps = {
  catalog: Catalog;
  clock: Pick<Clock, 'now'>;
};

const PAGE_ARTIFACTS = 50;

/** The catalog: `/portal/catalog` and what lies below. */
export function catalogPages(portal: PortalRoutes, deps: CatalogPagesDeps): void {
  portal.page(CATALOG_PATH, { scope: 'catalog:read', query: catalogQuery }, (request) =>
    listPage(deps, request),
  );
}

async function listPage(
  { catalog, clock }: CatalogPagesDeps,
  { person, query }: { person: PortalPerson; query: CatalogQuery },
): Promise<PortalPage> {
  const { workspaceId, timeZone } = person;
  const problems = catalog.problemsInFilter(query);
  if (problems.length > 0) refuse(problems);
  const searchProblem = searchProblemOf(query);
  const { items: versions, pagination } =
    searchProblem === undefined
      ? await catalog.list({ workspaceId }, toRequest(query))
      : { items: [], pagination: { hasMore: false } };
  const mayWrite = may(person, 'catalog:write');
  const words = catalog.words();
  const facts = { versions, pagination, query, words, mayWrite, searchProblem };
  return {
    title: 'Catalog',
    section: 'catalog',
    meta: [html`Workspace ${code(cut(workspaceId, 60))}`],
    ...(mayWrite && { actions: link({ href: NEW_PATH, text: 'Create draft', look: 'primary' }) }),
    body: catalogListView(facts, { timeZone, nowMs: clock.now() }),
    ...(searchProblem !== undefined && { hasProblems: true, status: 422 }),
  };
}

function toRequest(query: CatalogQuery) {
  const { cursor } = query;
  return { ...toFilters(query), limit: PAGE_ARTIFACTS, ...(cursor !== undefined && { cursor }) };
}

function searchProblemOf({ q }: CatalogQuery): string | undefined {
  if (q === undefined || isSearchable(q)) return undefined;
  return `Search for 1 to ${SEARCH_TERMS_MAX} words of letters and digits.`;
}
