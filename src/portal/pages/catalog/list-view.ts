import { lifecycles } from '#catalog/version/artifact.ts';
import type { VersionRecord } from '#catalog/version/artifact.ts';
import type { Words } from '#catalog/version/content-check.ts';
import type { Pagination } from '#shared/pagination/page.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import type { WrongFilters } from '../../routes/route-types.ts';
import { empty, plainCard } from '../../shell/card.ts';
import { input, select } from '../../shell/fields.ts';
import { chips, filters, wide } from '../../shell/forms.ts';
import { code, cut, foreign, link, note } from '../../shell/parts.ts';
import { pager, table } from '../../shell/table.ts';
import { count, time } from '../../shell/times.ts';
import type { Reader } from '../../shell/times.ts';
import { artifactPath, CATALOG_PATH, catalogPath, NEW_PATH } from './query.ts';
import type { CatalogQuery } from './query.ts';
import { LIFECYCLE_WORDS, standing } from './words.ts';

export type CatalogListFacts = {
  versions: readonly VersionRecord[];
  pagination: Pagination;
  query: CatalogQuery;
  wrong: WrongFilters;
  /** Types and sources that one can filter by. */
  words: Words;
  mayWrite: boolean;
  /** What is wrong with the words that were searched for. */
  searchProblem?: string | undefined;
};

/** What is there, in which state, and whose it is. */
export function catalogListView(given: CatalogListFacts, reader: Reader): Html {
  const { versions, pagination, query, mayWrite } = given;
  const { cursor, ...filtered } = query;
  const isFiltered = Object.values(filtered).some((value) => value !== undefined);
  if (versions.length === 0 && !isFiltered && cursor === undefined) return emptyCatalog(mayWrite);
  return plainCard(
    filterForm(given),
    chips({ chips: chipsOf(filtered) }),
    versions.length === 0 ? nothingFits() : versionTable(given, reader),
    pager({
      summary: `${count(versions.length)} on this page, newest first`,
      ...(cursor !== undefined && { newest: catalogPath(filtered) }),
      ...(pagination.nextCursor !== undefined && {
        older: catalogPath({ ...filtered, cursor: pagination.nextCursor }),
      }),
    }),
  );
}

function emptyCatalog(mayWrite: boolean): Html {
  const text =
    'An artifact is an API, an event, a schema or a service, in versions that go from draft to published, deprecated and retired.';
  return empty({
    id: 'empty-catalog',
    heading: 'The catalog is empty',
    text: mayWrite
      ? `${text} Create the first one here, or bring files with “trackport catalog import”.`
      : `${text} Whoever has the scope catalog:write can create one.`,
    ...(mayWrite && { next: link({ href: NEW_PATH, text: 'Create draft', look: 'primary' }) }),
  });
}

function nothingFits(): Html {
  return empty(
    {
      id: 'nothing-fits',
      heading: 'Nothing like this',
      text: 'Nothing in the catalog fits all of these filters.',
      next: link({ href: CATALOG_PATH, text: 'Show all', look: 'button' }),
    },
    { inCard: true },
  );
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

function filterForm({ query, wrong, words, searchProblem }: CatalogListFacts): Html {
  const any = { value: '', label: 'Any' };
  const asChoice = (value: string) => ({ value, label: value });
  const text = (name: 'owner' | 'groupPath' | 'projectId', label = LABELS[name]): Html =>
    input({ name, label, value: query[name], ...wrong[name] });
  const states = lifecycles.map((value) => ({ value, label: LIFECYCLE_WORDS[value].words }));
  return filters({
    action: CATALOG_PATH,
    label: 'Search the catalog',
    submit: 'Search',
    fields: [
      wide(
        input({
          name: 'q',
          label: LABELS.q,
          type: 'search',
          value: query.q,
          placeholder: 'id, title, description, owner, group',
          error: searchProblem,
          ...wrong['q'],
        }),
      ),
      select({
        name: 'type',
        label: LABELS.type,
        value: query.type,
        choices: [any, ...words.types.map(asChoice)],
        ...wrong['type'],
      }),
      select({
        name: 'lifecycle',
        label: LABELS.lifecycle,
        value: query.lifecycle,
        choices: [any, ...states],
        ...wrong['lifecycle'],
      }),
      text('owner'),
      text('groupPath', 'Group path'),
      select({
        name: 'source',
        label: LABELS.source,
        value: query.source,
        choices: [any, ...words.sources.map(asChoice)],
        ...wrong['source'],
      }),
      text('projectId'),
      select({
        name: 'versions',
        label: 'Rows',
        value: query.versions,
        choices: [
          { value: '', label: 'Artifacts' },
          { value: 'all', label: LABELS.versions },
        ],
        ...wrong['versions'],
      }),
    ],
  });
}

function versionTable({ versions, query }: CatalogListFacts, reader: Reader): Html {
  const isEvery = query.versions === 'all';
  return table<VersionRecord>({
    caption: isEvery
      ? 'Versions, newest first'
      : 'Artifacts, newest first, each as its default version',
    rows: versions,
    columns: [
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
    ],
  });
}
