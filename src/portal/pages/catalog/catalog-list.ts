/** The list of the catalog, and the words that say where a version is in its life, and when that ends. */
import { z } from 'zod';
import { countFindings, listCatalog } from '#catalog/reading/read-catalog.ts';
import { isSearchable, SEARCH_TERMS_MAX } from '#catalog/reading/search-terms.ts';
import { type Lifecycle, lifecycles, type ListedVersion } from '#catalog/version/artifact.ts';
import { filterProblems, type Words } from '#catalog/version/content-check.ts';
import { refuse } from '#shared/errors.ts';
import { DAY, SECOND } from '#shared/clock.ts';
import type { Standing } from '#shared/outcomes/entry.ts';
import {
  type Column,
  cursorFilter,
  type Filter,
  type Found,
  listCard,
  type ListRequest,
  oneOfFilter,
  textFilter,
} from '../../shell/list.ts';
import { html, type Html } from '../../html.ts';
import { may } from '../../page.ts';
import {
  artifactPath,
  CATALOG_PATH,
  catalogPath,
  NEW_DRAFT_PATH,
  SECTIONS,
  withQuery,
} from '../../paths.ts';
import { page } from '../../routes/page-route.ts';
import type { EmptyCard } from '../../shell/card.ts';
import { badgeOf, code, cut, foreign, link, note } from '../../shell/elements.ts';
import { choicesOf } from '../../shell/forms.ts';
import { calendarDay, count, counted, time, type Viewer } from '../../shell/times.ts';

/** Every filter stands in every link of the page. */
const FILTERS_BYTES_MAX = 2400;

/** The address of the list. */
const catalogQuery = z
  .strictObject({
    q: textFilter(),
    type: textFilter(),
    lifecycle: oneOfFilter(lifecycles),
    owner: textFilter(),
    groupPath: textFilter(),
    source: textFilter(),
    projectId: textFilter(),
    versions: oneOfFilter(['all']),
    cursor: cursorFilter,
  })
  .refine(
    ({ cursor: _cursor, ...filters }) => withQuery('', filters).length <= FILTERS_BYTES_MAX,
    'The filters are too long together: leave some out, or shorten them.',
  );

export type CatalogQuery = z.output<typeof catalogQuery>;

/** The list of a group; empty, and no link, for a path that is too long for the address. */
export function groupPathOf(groupPath: string): string {
  const path = catalogPath({ groupPath });
  return path.length <= FILTERS_BYTES_MAX ? path : '';
}

const PAGE_ARTIFACTS = 50;

const CREATE = link(NEW_DRAFT_PATH, 'Create draft', { look: 'primary' });

/** `/portal/catalog`: what is there, in which state, and whose it is. */
export const catalogListPage = page({
  path: CATALOG_PATH,
  scope: SECTIONS.catalog.scope,
  query: catalogQuery,
  isList: true,
  show: async ({ catalog }, request) => {
    const { person, query } = request;
    const words = catalog.rules();
    const problems = filterProblems(query, words);
    if (problems.length > 0) refuse(problems);
    const searchProblem = searchProblemOf(query);
    const found =
      searchProblem === undefined
        ? await listCatalog(catalog, person, { ...query, limit: PAGE_ARTIFACTS })
        : { items: [], pagination: { hasMore: false } };
    const mayWrite = may(person, 'catalog:write');
    const findings = await countFindings(catalog.db, found.items);
    const facts = { ...found, findings, words, mayWrite, searchProblem };
    return {
      title: 'Catalog',
      section: 'catalog',
      meta: [html`Workspace ${code(cut(person.workspaceId, 60))}`],
      ...(mayWrite && { actions: CREATE }),
      body: catalogListView(facts, request),
      ...(searchProblem !== undefined && { hasProblems: true, status: 422 }),
    };
  },
});

function searchProblemOf({ q }: CatalogQuery): string | undefined {
  if (q === undefined || isSearchable(q)) return undefined;
  return `Search for 1 to ${SEARCH_TERMS_MAX} words of letters and digits.`;
}

export type CatalogFound = Found<ListedVersion> & {
  /** Numbers of them, by the serials of versions that have some. */
  findings: ReadonlyMap<number, number>;
  /** Types and sources that one can filter by. */
  words: Words;
  mayWrite: boolean;
  /** Problem of the words that were searched for. */
  searchProblem?: string;
};

/** Artifacts with their state and owner. */
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
    columns: columnsFor(isEvery, found.findings, request.viewer),
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

function emptyCatalog(mayWrite: boolean): EmptyCard {
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

const columnsFor = (
  isEvery: boolean,
  findings: CatalogFound['findings'],
  viewer: Viewer,
): Column<ListedVersion>[] => [
  [
    'Artifact',
    ({ id, title, version }) =>
      html`${link(artifactPath(id, isEvery ? { version } : {}), foreign(title))}${note(code(id))}`,
  ],
  ['Type', ({ type }) => type],
  ['Version', ({ version }) => code(version)],
  ['Lifecycle', (one) => lifecycleStatus(one, findings.get(one.serial) ?? 0, viewer)],
  ['Owner', ({ owner }) => foreign(owner, 60)],
  ['Group', ({ groupPath }) => groupPath && code(cut(groupPath, 120))],
  ['Changed', ({ updatedAt }) => time(updatedAt, viewer, 'day')],
];

export const LIFECYCLE_WORDS: Readonly<Record<Lifecycle, Standing>> = {
  DRAFT: { urgency: 'wait', title: 'Draft' },
  PUBLISHED: { urgency: 'ok', title: 'Published' },
  DEPRECATED: { urgency: 'warn', title: 'Deprecated' },
  RETIRED: { urgency: 'mute', title: 'Retired' },
};

/** The day on which a version ends: that which was chosen, wherever its viewer is. */
export function sunsetDay(sunsetAt: number, viewer: Viewer): Html {
  return isWholeDay(sunsetAt) ? calendarDay(sunsetAt, viewer) : time(sunsetAt, viewer, 'day');
}

/** A whole day ends with its last second in UTC. */
const isWholeDay = (sunsetAt: number): boolean => sunsetAt % DAY === DAY - SECOND;

/** The state, and what is about to become of the version. */
function lifecycleStatus(
  { lifecycle, sunsetAt }: ListedVersion,
  findings: number,
  viewer: Viewer,
): Html {
  const isEnding = lifecycle === 'DEPRECATED' && sunsetAt !== undefined;
  return html`${badgeOf(LIFECYCLE_WORDS[lifecycle])}${isEnding && note('Sunset ', sunsetDay(sunsetAt, viewer))}${
    lifecycle === 'DRAFT' && findings > 0 && note(counted(findings, 'finding'))
  }`;
}
