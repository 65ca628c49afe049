import { z } from 'zod';
import type { Catalog } from '#catalog/index.ts';
import { isSearchable, SEARCH_TERMS_MAX } from '#catalog/version/search-terms.ts';
import type { Clock } from '#shared/clock.ts';
import { refuse, TrackportError } from '#shared/errors.ts';
import type { PortalPage } from '../../page.ts';
import type { PortalPerson } from '../../person.ts';
import type { PortalRoutes } from '../../routes/route-types.ts';
import type { PortalFile } from '../../routes/send-page.ts';
import { html } from '../../html.ts';
import { code, cut } from '../../shell/parts.ts';
import { artifactPage, artifactQuery, ofArtifact } from './artifact-page.ts';
import { catalogListView } from './list-view.ts';
import { CATALOG_PATH, catalogQuery, toFilters } from './query.ts';
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
  const one = `${CATALOG_PATH}/:id`;
  portal.page(one, { ...ofArtifact, query: artifactQuery }, ({ person, params: { id }, query }) =>
    artifactPage(deps, { person, id, query }),
  );
  portal.page(`${one}/spec`, { ...ofArtifact, query: specQuery }, ({ person, params, query }) =>
    specFile(deps, person, { ...params, ...query }),
  );
}

const specQuery = z.strictObject({ version: z.string() });

async function specFile(
  { catalog }: CatalogPagesDeps,
  { workspaceId }: PortalPerson,
  ref: { id: string; version: string },
): Promise<PortalFile> {
  const { record, specText } = await catalog.read({ workspaceId }, { ...ref, withSpec: true });
  if (specText === undefined)
    throw new TrackportError('not-found', { detail: 'This version has no spec.' });
  return {
    fileName: `${record.id}-${record.version}.json`,
    mediaType: 'application/json',
    content: specText,
  };
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
  const words = catalog.words();
  const facts = { versions, pagination, query, words, searchProblem };
  return {
    title: 'Catalog',
    section: 'catalog',
    meta: [html`Workspace ${code(cut(workspaceId, 60))}`],
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
