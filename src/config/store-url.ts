import { Secret } from '#shared/crypto/secret.ts';

import { shaped } from './schema/values.ts';

/** Where a store is. */
export type StoreAddress =
  | { readonly engine: 'sqlite'; readonly path: string }
  | { readonly engine: 'postgres'; readonly url: Secret };

/**
 * A file, for SQLite: `:memory:` would lose what was acknowledged, and what looks like a host or a
 * query would become part of its name.
 */
const STORE_URL =
  /^(?:sqlite:(?!:memory:|\/\/[^/]|\/\/\S*@)[^\s?](?:[^?\n]*[^\s?])?|postgres(?:ql)?:\/\/.+)$/;

/** `sqlite:PATH` or `postgres://…`. */
export function storeUrl() {
  return shaped(
    STORE_URL,
    'sqlite:PATH with the path of a file, or postgres://user:password@host/database',
  ).transform(toStoreAddress);
}

function toStoreAddress(url: string): StoreAddress {
  return url.startsWith('sqlite:')
    ? { engine: 'sqlite', path: url.slice('sqlite:'.length) }
    : { engine: 'postgres', url: new Secret(url) };
}
