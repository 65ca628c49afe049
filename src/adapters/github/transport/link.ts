/** Where a `Link` header says that the list goes on. */
export type Continuation =
  | { kind: 'end' }
  | { kind: 'next'; after: string }
  /** There is a next page, but no cursor to ask for it. */
  | { kind: 'unusable' };

/**
 * The `after` cursor of the `rel="next"` target (RFC 8288). Nothing else of the target is used, so
 * that the credential never goes where a link points.
 */
export function continuationOf(link: string | number | undefined): Continuation {
  for (const [, target = '', parameters = ''] of link?.toString().matchAll(LINK) ?? []) {
    if (!isNext(parameters)) continue;
    const after = cursorOf(target);
    return after ? { kind: 'next', after } : { kind: 'unusable' };
  }
  return { kind: 'end' };
}

const LINK = /<([^<>]*)>([^<]*)/g;

function isNext(parameters: string): boolean {
  const [, quoted, bare] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,]+))/i.exec(parameters) ?? [];
  return (quoted ?? bare ?? '').toLowerCase().split(/\s+/).includes('next');
}

function cursorOf(target: string): string | undefined {
  const query = target.trim().split('#')[0]?.split('?')[1] ?? '';
  return new URLSearchParams(query).get('after') ?? undefined;
}
