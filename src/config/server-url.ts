/** `http://host:port` of a server, with an address that can be opened for one that means "all". */
export function serverUrl({ host, port }: { host: string; port: number }): string {
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
