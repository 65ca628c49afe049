import type { RouteOptions } from 'fastify';

/** Which methods each path knows, for `405` with `Allow`. */
export type KnownPaths = {
  add(route: Pick<RouteOptions, 'method' | 'url'>): void;
  /** The methods of a path as `routedPath` gives it, sorted; undefined when no route has it. */
  methodsOf(path: string): readonly string[] | undefined;
};

/** Templates are Fastify's: `:name` stands for one segment, `*` for the rest. */
export function createKnownPaths(): KnownPaths {
  const known = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  return {
    add: ({ method, url }) => {
      const entry = known.get(url) ?? { pattern: patternOf(url), methods: new Set<string>() };
      for (const name of [method].flat()) entry.methods.add(name);
      known.set(url, entry);
    },
    methodsOf: (path) => {
      const methods = [...known.values()]
        .filter(({ pattern }) => pattern.test(path))
        .flatMap((entry) => [...entry.methods]);
      return methods.length === 0 ? undefined : [...new Set(methods)].sort();
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
