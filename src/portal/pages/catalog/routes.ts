import { z } from 'zod';
import { isSearchable, SEARCH_TERMS_MAX } from '#catalog/reading/search-terms.ts';
import { refuse } from '#shared/errors.ts';
import type { PortalPage } from '../../page.ts';
import { may, type PortalPerson } from '../../person.ts';
import type { PortalRoutes, WrongFilters } from '../../routes/route-types.ts';
import type { PortalFile } from '../../routes/send-page.ts';
import { html, type Html } from '../../html.ts';
import { code, cut, foreign, link, note } from '../../shell/parts.ts';
import { artifactPage, artifactQuery, ofArtifact } from './artifact/artifact-page.ts';
import { addDrafts } from './drafts.ts';
import { addLifecycle } from './lifecycle.ts';
import { addPublish } from './publish.ts';
import {
  artifactPath,
  CATALOG_PATH,
  catalogPath,
  catalogQuery,
  type CatalogQuery,
  NEW_PATH,
  toFilters,
} from './query.ts';
import type { CatalogPagesDeps } from './versions.ts';
import { lifecycles, type VersionRecord } from '#catalog/version/artifact.ts';
import type { Words } from '#catalog/version/content-check.ts';
import type { EmptyFacts } from '../../shell/card.ts';
import { chips } from '../../shell/forms.ts';
import { type Filter, listCard, type Listed } from '../../shell/list.ts';
import type { Column } from '../../shell/table.ts';
import { count, type Reader, time } from '../../shell/times.ts';
import { LIFECYCLE_WORDS, standing } from './words.ts';

const PAGE_ARTIFACTS = 50;

/** The catalog: `/portal/catalog` and what lies below. */
export function catalogPages(portal: PortalRoutes, deps: CatalogPagesDeps): void {
  portal.page(
    CATALOG_PATH,
    { scope: 'catalog:read', query: catalogQuery, isList: true },
    (request) => listPage(deps, request),
  );
  const one = `${CATALOG_PATH}/:id`;
  portal.page(one, { ...ofArtifact, query: artifactQuery }, (request) =>
    artifactPage(deps, request),
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

export type CatalogListFacts = Listed<VersionRecord, CatalogQuery> & {
  /** Types and sources that one can filter by. */
  words: Words;
  mayWrite: boolean;
  /** What is wrong with the words that were searched for. */
  searchProblem?: string | undefined;
};

/** What is there, in which state, and whose it is. */
export function catalogListView(found: CatalogListFacts, reader: Reader): Html {
  const { cursor: _cursor, ...filtered } = found.query;
  const isEvery = filtered.versions === 'all';
  return listCard({
    ...found,
    pathOf: catalogPath,
    label: 'Search the catalog',
    submit: 'Search',
    filters: filtersFor(found),
    chips: chips({ chips: chipsOf(filtered) }),
    caption: isEvery
      ? 'Versions, newest first'
      : 'Artifacts, newest first, each as its default version',
    columns: columnsFor(isEvery, reader),
    summary: `${count(found.items.length)} on this page, newest first`,
    none: emptyCatalog(found.mayWrite),
    nothingFits: {
      id: 'nothing-fits',
      heading: 'Nothing like this',
      text: 'Nothing in the catalog fits all of these filters.',
      next: link({ href: CATALOG_PATH, text: 'Show all', look: 'button' }),
    },
  });
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
    ...(mayWrite && { next: link({ href: NEW_PATH, text: 'Create draft', look: 'primary' }) }),
  };
}

const LABELS: Readonly<Record<Exclude<keyof CatalogQuery, 'cursor'>, string>> = {
  q: 'Search',
  type: 'Type',
  lifecycle: 'Lifecycle',
  owner: 'Owner',
  groupPath: 'Group',
  source: 'Source',
  projectId: 'Project',
  versions: 'Every version',
};

function chipsOf(filtered: Omit<CatalogQuery, 'cursor'>): { label: string; href: string }[] {
  return (Object.keys(LABELS) as (keyof typeof LABELS)[]).flatMap((name) => {
    const value = filtered[name];
    if (value === undefined) return [];
    const label = name === 'versions' ? LABELS[name] : `${LABELS[name]} ${cut(value, 60)}`;
    return [{ label, href: catalogPath({ ...filtered, [name]: undefined }) }];
  });
}

function filtersFor({ words, searchProblem }: CatalogListFacts): Filter[] {
  const text = (name: keyof typeof LABELS): Filter => ({ name, label: LABELS[name] });
  const oneOf = (name: keyof typeof LABELS, values: readonly string[]): Filter => ({
    ...text(name),
    any: 'Any',
    choices: values.map((value) => ({ value, label: value })),
  });
  const states = lifecycles.map((value) => ({ value, label: LIFECYCLE_WORDS[value].words }));
  return [
    {
      ...text('q'),
      type: 'search',
      placeholder: 'id, title, description, owner, group',
      error: searchProblem,
      isWide: true,
    },
    oneOf('type', words.types),
    { ...text('lifecycle'), any: 'Any', choices: states },
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

const columnsFor = (isEvery: boolean, reader: Reader): Column<VersionRecord>[] => [
  {
    label: 'Artifact',
    cell: ({ id, title, version }) =>
      html`${link({
        href: artifactPath(id, isEvery ? { version } : {}),
        text: foreign(title),
      })}${note(code(id))}`,
  },
  { label: 'Type', cell: ({ type }) => type },
  { label: 'Version', cell: ({ version }) => code(version) },
  { label: 'Lifecycle', cell: (record) => standing(record, reader) },
  { label: 'Owner', cell: ({ owner }) => foreign(owner, 60) },
  { label: 'Group', cell: ({ groupPath }) => groupPath && code(cut(groupPath, 120)) },
  { label: 'Changed', cell: ({ updatedAt }) => time(updatedAt, reader, 'day') },
];
