import { toPathAndQuery } from '#shared/text/address.ts';
import type { RouteOptions } from 'fastify';

/**
 * The path of a request target as routes are found by it: without host and query, and with escapes
 * decoded, so that `%65` is an `e` (RFC 3986 §6.2.2.2). Escapes of characters that mean something in
 * a path stay: `%2F` is no slash.
 */
export function routedPath(requestTarget: string): string {
  const [path = ''] = toPathAndQuery(requestTarget).split(/[?#]/, 1);
  if (!path.includes('%')) return path;
  try {
    return decodeURI(path.replaceAll('%25', '%2525'));
  } catch {
    return path;
  }
}

/** Which methods each path knows, for `405` with `Allow`. */
type KnownPaths = {
  add(route: Pick<RouteOptions, 'method' | 'url'>): void;
  /** The methods of a path as `routedPath` gives it, sorted; undefined when no route has it. */
  methodsOf(path: string): readonly string[] | undefined;
};

/** Templates are Fastify's: `:name` stands for one segment, `*` for the rest. */
export function createKnownPaths(): KnownPaths {
  const known: { pattern: RegExp; methods: string[] }[] = [];
  return {
    add: ({ method, url }) =>
      void known.push({ pattern: patternOf(url), methods: [method].flat() }),
    methodsOf: (path) => {
      const found = known.filter(({ pattern }) => pattern.test(path));
      const methods = new Set(found.flatMap((entry) => entry.methods));
      return methods.size === 0 ? undefined : [...methods].sort();
    },
  };
}

function patternOf(url: string): RegExp {
  const source = url
    .split('/')
    .map((part) => {
      if (part === '*') return '.*';
      return part.startsWith(':') ? '[^/]+' : part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
    })
    .join('/');
  return new RegExp(`^${source}$`);
}
