/** True for a host name of this machine itself, as `URL.hostname` has it: what goes there crosses no network. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
