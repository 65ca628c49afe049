import { invalid, refusal, type TrackerResponse } from '../response.ts';
import { cursorAt, parseCursor } from '../documents/cursor.ts';
import { issueDocument } from '../documents/issues.ts';
import { instantOf, pageOf, perPageOf } from '../input.ts';
import { linkHeader, withQuery } from '../documents/links.ts';
import { type IssueRows, listIssues, type ListQuery } from '../../world/list-issues.ts';
import type { IssueRecord, SortKey } from '../../world/model.ts';
import type { RouteContext } from '../route.ts';
import { fullNameOf } from '../../world/world.ts';

const NO_DEEP_PAGES =
  'Pagination with the page parameter is not supported for large datasets, please use cursor based pagination (after/before)';

/** `GET …/issues`: keyset cursors in `Link`, never `last`; page numbers only up to the wall. */
export function listIssuesRoute(pageWall: number): (context: RouteContext) => TrackerResponse {
  return (context) => {
    const { world, repository, request } = context;
    const query = parseListQuery(request.query);
    const hasCursor = query.after !== undefined || query.before !== undefined;
    if (!hasCursor && query.page > 1 && query.page * query.perPage > pageWall)
      throw refusal(422, NO_DEEP_PAGES);
    const page = listIssues(repository.replica, query);
    const rows = page.rows.map((row) => rendered(context, row));
    const target = { world, repository, path: 'issues' };
    const headers = linkHeader(target, relationsOf(page, query, request.query));
    return { status: 200, body: arrayOf(rows), headers };
  };
}

/** Records never change, so that each is written as JSON once; `rendered` forgets with them. */
function rendered({ world, repository, apiVersion }: RouteContext, row: IssueRecord): Buffer {
  const key = `${apiVersion} ${fullNameOf(repository)}`;
  const known = world.rendered.get(row);
  if (known?.key === key) return known.bytes;
  const document = issueDocument(world, repository, row, { apiVersion });
  const bytes = Buffer.from(JSON.stringify(document));
  world.rendered.set(row, { key, bytes });
  return bytes;
}

/** A JSON array of ready documents. */
function arrayOf(rows: readonly Buffer[]): Buffer {
  const [open, comma, close] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')];
  return Buffer.concat([
    open,
    ...rows.flatMap((row, at) => (at === 0 ? [row] : [comma, row])),
    close,
  ]);
}

function relationsOf(
  { rows, hasNext, hasPrevious }: IssueRows,
  query: ListQuery,
  requested: URLSearchParams,
) {
  const [first, last] = [rows[0], rows.at(-1)];
  const relations: { rel: string; query: URLSearchParams }[] = [];
  if (first && hasPrevious) {
    const before = cursorAt(first, query.sort);
    const page = String(Math.max(1, query.page - 1));
    relations.push({
      rel: 'prev',
      query: withQuery(requested, { after: undefined, before, page }),
    });
  }
  if (last && hasNext) {
    const after = cursorAt(last, query.sort);
    const page = String(query.page + 1);
    relations.unshift({
      rel: 'next',
      query: withQuery(requested, { before: undefined, after, page }),
    });
  }
  return relations;
}

function parseListQuery(query: URLSearchParams): ListQuery {
  const sort = sortOf(query.get('sort'));
  const since = instantOf(query, 'since');
  const [creator, assignee] = [query.get('creator'), query.get('assignee')];
  const [after, before] = [cursorOf(query, 'after'), cursorOf(query, 'before')];
  return {
    state: stateOf(query.get('state')),
    labels: labelsOf(query.get('labels')),
    sort,
    descending: sort === 'id' || query.get('direction') !== 'asc',
    perPage: perPageOf(query),
    page: pageOf(query),
    ...(since === undefined ? {} : { since }),
    ...(creator ? { creator } : {}),
    ...(assignee ? { assignee } : {}),
    ...(after ? { after } : {}),
    ...(before ? { before } : {}),
  };
}

function stateOf(value: string | null): ListQuery['state'] {
  const state = value ?? 'open';
  if (state === 'open' || state === 'closed' || state === 'all') return state;
  throw invalid({ value: state, resource: 'Issue', field: 'state', code: 'invalid' });
}

function sortOf(value: string | null): SortKey {
  if (value === null) return 'created';
  return value === 'created' || value === 'updated' || value === 'comments' ? value : 'id';
}

function labelsOf(value: string | null): string[] {
  const names = (value ?? '').split(',').map((name) => name.trim().toLowerCase());
  return names.filter((name) => name !== '');
}

function cursorOf(query: URLSearchParams, name: 'after' | 'before') {
  const value = query.get(name);
  if (!value) return undefined;
  const cursor = parseCursor(value);
  if (cursor) return cursor;
  throw invalid({ value, resource: 'Issue', field: name, code: 'invalid' });
}
