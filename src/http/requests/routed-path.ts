import { toPathAndQuery } from '#shared/address.ts';

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
