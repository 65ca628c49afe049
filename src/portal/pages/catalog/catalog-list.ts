import { diffVersions } from '#catalog/diff/diff-versions.ts';
import { listAudit, listCatalog, listVersions, readSpec } from '#catalog/reading/read-catalog.ts';
import { z } from 'zod';
import { isSearchable, SEARCH_TERMS_MAX } from '#catalog/reading/search-terms.ts';
import { readUsage } from '#catalog/usage/read-usage.ts';
import { lifecycles, type VersionRecord } from '#catalog/version/artifact.ts';
import { type Words, filterProblems } from '#catalog/version/content-check.ts';
import { refuse } from '#shared/errors.ts';
import { pageOf, cursorFilter, present, textFilter, withQuery } from '../../address.ts';
import { html, type Html } from '../../html.ts';
import { may, type PortalPage, type PortalPerson } from '../../page.ts';
import type { PageRequest, PortalRoutes } from '../../routes/route-types.ts';
import type { EmptyFacts } from '../../shell/card.ts';
import { choicesOf } from '../../shell/forms.ts';
import {
  type ListRequest,
  type Filter,
  type Found,
  listCard,
  type Column,
} from '../../shell/list.ts';
import { badgeOf, code, cut, foreign, link, note } from '../../shell/elements.ts';
import { count, type Viewer, time } from '../../shell/times.ts';
import type { PagesContext } from '../../context.ts';
import { addDrafts } from './draft-pages.ts';
import { addLifecycle } from './lifecycle-actions.ts';
import { addPublish } from './publish-action.ts';
import {
  catalogQuery,
  type CatalogQuery,
  toFilters,
  groupPathOf,
  LIFECYCLE_WORDS,
  lifecycleStatus,
} from './catalog-words.ts';
import { type Catalog, type VersionView, readView } from '#catalog/version/version-view.ts';
import { artifactView } from './artifact-view.ts';
import { readDefault } from './version-actions.ts';
import { CATALOG_PATH, NEW_DRAFT_PATH, artifactPath, catalogPath } from '../../paths.ts';

const PAGE_ARTIFACTS = 50;

const CREATE = link(NEW_DRAFT_PATH, 'Create draft', { look: 'primary' });

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

/** The catalog: `/portal/catalog` and what lies below. */
export function catalogPages(portal: PortalRoutes, context: PagesContext): void {
  const { catalog } = context;
  const list = { scope: 'catalog:read', query: catalogQuery, isList: true } as const;
  portal.page(CATALOG_PATH, list, (request) => listPage(context, request));
  const one = `${CATALOG_PATH}/:id`;
  portal.page(one, { ...ofArtifact, query: artifactQuery }, (request) =>
    artifactPage(context, request),
  );
  const ofSpec = { ...ofArtifact, query: z.strictObject({ version: z.string() }) };
  portal.page(`${one}/spec`, ofSpec, async ({ person, params, query }) => {
    const ref = { ...params, ...query, format: 'json' } as const;
    const { view, text } = await readSpec(catalog, person, ref);
    const { id, version } = view.record;
    return { fileName: `${id}-${version}.json`, mediaType: 'application/json', content: text };
  });
  addDrafts(portal, context);
  addPublish(portal, context);
  addLifecycle(portal, context);
}

async function listPage(
  { catalog }: PagesContext,
  request: PageRequest<CatalogQuery>,
): Promise<PortalPage> {
  const { person, query } = request;
  const problems = filterProblems(query, catalog.words);
  if (problems.length > 0) refuse(problems);
  const searchProblem = searchProblemOf(query);
  const page = pageOf(PAGE_ARTIFACTS, query.cursor);
  const found =
    searchProblem === undefined
      ? await listCatalog(catalog, person, { ...toFilters(query), ...page })
      : { items: [], pagination: { hasMore: false } };
  const mayWrite = may(person, 'catalog:write');
  const facts = { ...found, words: catalog.words, mayWrite, searchProblem };
  return {
    title: 'Catalog',
    section: 'catalog',
    meta: [html`Workspace ${code(cut(person.workspaceId, 60))}`],
    ...(mayWrite && { actions: CREATE }),
    body: catalogListView(facts, request),
    ...(searchProblem !== undefined && { hasProblems: true, status: 422 }),
  };
}

function searchProblemOf({ q }: CatalogQuery): string | undefined {
  if (q === undefined || isSearchable(q)) return undefined;
  return `Search for 1 to ${SEARCH_TERMS_MAX} words of letters and digits.`;
}

export type CatalogFound = Found<VersionRecord> & {
  /** Types and sources that one can filter by. */
  words: Words;
  mayWrite: boolean;
  /** What is wrong with the words that were searched for. */
  searchProblem?: string;
};

/** What is there, in which state, and whose it is. */
export function catalogListView(found: CatalogFound, request: ListRequest<CatalogQuery>): Html {
  const isEvery = request.query.versions === 'all';
  const list = {
    ...found,
    pathOf: catalogPath,
    label: 'Search the catalog',
    submit: 'Search',
    filters: filtersFor(found),
    filterText: (name: string, value: string) =>
      name === 'versions' ? LABELS[name] : `${LABELS[name as FilterName]} ${cut(value, 60)}`,
    caption: isEvery
      ? 'Versions, newest first'
      : 'Artifacts, newest first, each as its default version',
    columns: columnsFor(isEvery, request.viewer),
    summary: `${count(found.items.length)} on this page, newest first`,
    none: emptyCatalog(found.mayWrite),
    nothingFits: {
      id: 'nothing-fits',
      heading: 'Nothing like this',
      text: 'Nothing in the catalog fits all of these filters.',
    },
  };
  return listCard(list, request);
}

function emptyCatalog(mayWrite: boolean): EmptyFacts {
  const text =
    'An artifact is an API, an event, a schema or a service, in versions that go from draft to published, deprecated and retired.';
  return {
    id: 'empty-catalog',
    heading: 'The catalog is empty',
    text: mayWrite
      ? `${text} Create the first one here, or bring files with “trackport catalog import”.`
      : `${text} Whoever has the scope catalog:write can create one.`,
    ...(mayWrite && { next: CREATE }),
  };
}

type FilterName = Exclude<keyof CatalogQuery, 'cursor'>;

const LABELS: Readonly<Record<FilterName, string>> = {
  q: 'Search',
  type: 'Type',
  lifecycle: 'Lifecycle',
  owner: 'Owner',
  groupPath: 'Group',
  source: 'Source',
  projectId: 'Project',
  versions: 'Every version',
};

function filtersFor({ words, searchProblem }: CatalogFound): Filter[] {
  const text = (name: FilterName): Filter => ({ name, label: LABELS[name] });
  const oneOf = (name: FilterName, values: readonly string[]): Filter => ({
    ...text(name),
    any: 'Any',
    choices: choicesOf(values),
  });
  return [
    {
      ...text('q'),
      type: 'search',
      placeholder: 'id, title, description, owner, group',
      error: searchProblem,
      isWide: true,
    },
    oneOf('type', words.types),
    { ...text('lifecycle'), any: 'Any', choices: choicesOf(lifecycles, LIFECYCLE_WORDS) },
    text('owner'),
    { ...text('groupPath'), label: 'Group path' },
    oneOf('source', words.sources),
    text('projectId'),
    {
      name: 'versions',
      label: 'Rows',
      any: 'Artifacts',
      choices: [{ value: 'all', label: LABELS.versions }],
    },
  ];
}

const columnsFor = (isEvery: boolean, viewer: Viewer): Column<VersionRecord>[] => [
  [
    'Artifact',
    ({ id, title, version }) =>
      html`${link(artifactPath(id, isEvery ? { version } : {}), foreign(title))}${note(code(id))}`,
  ],
  ['Type', ({ type }) => type],
  ['Version', ({ version }) => code(version)],
  ['Lifecycle', (record) => lifecycleStatus(record, viewer)],
  ['Owner', ({ owner }) => foreign(owner, 60)],
  ['Group', ({ groupPath }) => groupPath && code(cut(groupPath, 120))],
  ['Changed', ({ updatedAt }) => time(updatedAt, viewer, 'day')],
];

/** The page of one artifact, about one of its versions. */
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
