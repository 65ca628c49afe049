import { listPublished } from '#catalog/reading/read-catalog.ts';
import type { ListedVersion } from '#catalog/version/artifact.ts';
import { TrackportError } from '#shared/errors.ts';
import type { BearerContext, HttpApp } from '../../context.ts';
import {
  createResponseCache,
  type RenderedResponse,
  sendRendered,
  strongEtag,
} from '../../responses/rendered-response.ts';

const PATH = '/.well-known/api-catalog';
const PROFILE = 'https://www.rfc-editor.org/info/rfc9727';
const MEDIA_TYPE = `application/linkset+json; profile="${PROFILE}"`;

/**
 * The published artifacts of `catalog.public`, which anybody may find, as a set of links.
 * @see RFC 9727, RFC 9264
 */
export function apiCatalogRoutes(app: HttpApp, { catalog, publicUrl }: BearerContext): void {
  const cache = createResponseCache(() => catalog.db.dataVersion());
  const render = async (workspaceIds: readonly string[]): Promise<RenderedResponse> => {
    // Their addresses name no workspace: where two have the same id, a credential says which one is meant.
    const items = new Map<string, object>();
    for (const workspaceId of workspaceIds)
      for (const record of await listPublished(catalog, workspaceId)) {
        const item = toItem(record, publicUrl());
        if (!items.has(item.href)) items.set(item.href, item);
      }
    const anchor = publicUrl() + PATH;
    const linkset = [{ anchor, item: [...items.values()] }];
    const bytes = Buffer.from(JSON.stringify({ linkset }));
    return { bytes, etag: strongEtag(bytes) };
  };
  app.get(PATH, { schema: { hide: true } }, async (request, reply) => {
    const workspaceIds = catalog.rules().public;
    if (workspaceIds.length === 0)
      throw new TrackportError('not-found', { detail: 'No workspace is public.' });
    const { headers, ...rendered } = await cache.read(JSON.stringify(workspaceIds), async () => ({
      ...(await render(workspaceIds)),
      mediaType: MEDIA_TYPE,
      headers: {
        'cache-control': 'public, no-cache',
        link: `<${publicUrl()}${PATH}>; rel="api-catalog"`,
      },
    }));
    return sendRendered({ request, reply }, rendered, headers);
  });
}

function toItem({ id, title }: ListedVersion, publicUrl: string) {
  const href = `${publicUrl}/api/v1/catalog/${encodeURIComponent(id)}`;
  return { href, type: 'application/json', title };
}
