import { Secret } from '#shared/crypto/secret.ts';

import { shaped } from './schema/values.ts';

/** Where a store is. */
export type StoreAddress =
  | { readonly engine: 'sqlite'; readonly path: string }
  | { readonly engine: 'postgres'; readonly url: Secret };

/**
 * A file, for SQLite: `:memory:` would lose what was acknowledged, and what looks like a host or a
 * query would become part of its name. For PostgreSQL one host, and no @ behind it: a password with a
 * /, ? or # that is not percent-encoded would be read, and shown, as host and database.
 */
const STORE_URL =
  /^(?:sqlite:(?!:memory:|\/\/[^/]|\/\/\S*@)[^\s?](?:[^?\n]*[^\s?])?|postgres(?:ql)?:\/\/(?:[^/?#]*@)?(?:\[[\d.:A-Fa-f]+\]|[^/?#@:,[\]]*)(?::\d{1,5})?(?:\/[^@#]*)?(?:\?[^@#]*)?)$/;

/** `sqlite:PATH` or `postgres://…`. */
export function storeUrl() {
  return shaped(
    STORE_URL,
    'sqlite:PATH with the path of a file, or postgres://user:password@host/database (in a password / is %2F, ? is %3F, # is %23)',
  ).transform(toStoreAddress);
}

function toStoreAddress(url: string): StoreAddress {
  return url.startsWith('sqlite:')
    ? { engine: 'sqlite', path: url.slice('sqlite:'.length) }
    : { engine: 'postgres', url: new Secret(url) };
}
