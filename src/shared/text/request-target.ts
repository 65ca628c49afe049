/** A request target as path and query, undecoded; the absolute form (RFC 9112 §3.2.2) loses its host. */
export function toPathAndQuery(requestTarget: string): string {
  return requestTarget.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
}
