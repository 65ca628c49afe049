/** True for a host name of this machine itself, as `URL.hostname` has it: what goes there crosses no network. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/** A request target as path and query, undecoded; the absolute form (RFC 9112 §3.2.2) loses its host. */
export function toPathAndQuery(requestTarget: string): string {
  return requestTarget.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
}
