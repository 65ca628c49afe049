import { isRecord } from '#shared/text/json.ts';
import type { At, Comparison } from './comparison.ts';

type Json = Record<string, unknown>;
type Server = { url: string; at: At };

/** A client knows the address that it was written for. */
export function compareServers({ before, after, say }: Comparison): void {
  const now = serversOf(after.root);
  if (now.length === 0) return;
  for (const { url, at } of serversOf(before.root)) {
    if (now.some((one) => isSameServer(one.url, url))) continue;
    const text = `the server ${url} is not there any more`;
    say({ at, kind: 'changed', impact: 'breaking', text });
  }
}

function serversOf(document: Json): Server[] {
  if (Object.hasOwn(document, 'swagger')) return oldServersOf(document);
  const { servers } = document;
  return (Array.isArray(servers) ? servers : []).flatMap((server: unknown, index) =>
    isRecord(server) && typeof server['url'] === 'string'
      ? [{ url: server['url'], at: ['servers', String(index), 'url'] }]
      : [],
  );
}

/** In Swagger 2.0 an address stands in three places. */
function oldServersOf({ schemes, host, basePath }: Json): Server[] {
  if (host === undefined && basePath === undefined) return [];
  const path = typeof basePath === 'string' ? basePath : '';
  if (typeof host !== 'string') return [{ url: path, at: ['basePath'] }];
  const all: unknown[] = Array.isArray(schemes) && schemes.length > 0 ? schemes : [''];
  return all.map((scheme) => ({
    url: `${scheme === '' ? '' : `${String(scheme)}:`}//${host}${path}`,
    at: ['host'],
  }));
}

/** A URL without a scheme or a host can have that of the other. */
function isSameServer(one: string, other: string): boolean {
  const [left, right] = [one, other].map((url) => {
    const [, scheme = '', host = '', path = ''] =
      /^(?:([a-z][a-z\d+.-]*):)?(?:\/\/([^/]*))?(.*)$/i.exec(url.replaceAll(/\{[^{}]*\}/g, '{}')) ??
      [];
    return [scheme.toLowerCase(), host.toLowerCase(), path.replace(/\/+$/, '')];
  }) as [string[], string[]];
  return left.every((part, at) => {
    const isOpen = at < 2 && (part === '' || right[at] === '');
    return isOpen || part === right[at];
  });
}
