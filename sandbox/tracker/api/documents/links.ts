import type { Repository, World } from '../../world/model.ts';

export type LinkTarget = { world: World; repository: Repository; path: string };

/** A `Link` header of relations to queries; undefined when there is none. */
export function linkHeader(
  { world, repository, path }: LinkTarget,
  relations: readonly { rel: string; query: URLSearchParams }[],
): Record<string, string> {
  if (relations.length === 0) return {};
  const base = `${world.origin}/repositories/${repository.id}/${path}`;
  const links = relations.map(({ rel, query }) => `<${base}?${query.toString()}>; rel="${rel}"`);
  return { link: links.join(', ') };
}

/** The query with some parameters replaced and others taken out (undefined). */
export function withQuery(
  query: URLSearchParams,
  changes: Readonly<Record<string, string | undefined>>,
): URLSearchParams {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    next.delete(name);
    if (value !== undefined) next.set(name, value);
  }
  return next;
}

/** Rows of one page with the old-style `Link` (prev, next, last, first): comments and labels. */
export function numberedPage<T>(
  target: LinkTarget,
  rows: readonly T[],
  { query, page, perPage }: { query: URLSearchParams; page: number; perPage: number },
): { rows: readonly T[]; headers: Record<string, string> } {
  const last = Math.max(1, Math.ceil(rows.length / perPage));
  const to = (rel: string, number: number) => ({
    rel,
    query: withQuery(query, { page: String(number) }),
  });
  const relations = [
    ...(page > 1 ? [to('prev', Math.min(page - 1, last))] : []),
    ...(page < last ? [to('next', page + 1), to('last', last)] : []),
    ...(page > 1 ? [to('first', 1)] : []),
  ];
  const start = (page - 1) * perPage;
  return { rows: rows.slice(start, start + perPage), headers: linkHeader(target, relations) };
}
