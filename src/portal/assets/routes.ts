import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpApp } from '#http/http-app.ts';
import { matchesNone } from '#http/requests/precondition.ts';
import { TrackportError } from '#shared/errors.ts';
import { findAsset } from './assets.ts';
import type { Asset } from './assets.ts';

/** A year; what is named by its digest never changes. */
const CACHE_CONTROL = 'public, max-age=31536000, immutable';

/** `/portal/assets/{name}-{digest}.{ext}`: for anybody, sign-in pages need them as well. */
export function addAssetRoutes(app: HttpApp): void {
  const options = { schema: { hide: true }, config: { freeQuery: true } } as const;
  app.get<{ Params: { file: string } }>('/portal/assets/:file', options, async (request, reply) => {
    const asset = findAsset(request.params.file);
    if (!asset) throw new TrackportError('not-found', { detail: 'There is no such file.' });
    return sendAsset(request, reply, asset);
  });
}

function sendAsset({ headers }: FastifyRequest, reply: FastifyReply, asset: Asset) {
  const encoding = encodingFor(headers['accept-encoding'] ?? '');
  const etag = encoding === 'identity' ? asset.etag : asset.etag.replace(/"$/, `-${encoding}"`);
  reply
    .header('etag', etag)
    .header('cache-control', CACHE_CONTROL)
    .header('vary', 'Accept-Encoding')
    .header('cross-origin-resource-policy', 'same-origin');
  if (matchesNone(headers['if-none-match'], etag)) return reply.code(304).send();
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  return reply.header('content-type', asset.mediaType).send(asset.bodies[encoding]);
}

/** The smallest that is taken; `q=0` refuses one. */
function encodingFor(accepted: string): keyof Asset['bodies'] {
  const isTaken = (name: string): boolean =>
    new RegExp(`(?:^|,)\\s*${name}\\s*(?:;\\s*q=(?!0(?:\\.0*)?\\s*(?:,|$))|,|$)`, 'i').test(
      accepted,
    );
  return (['br', 'gzip'] as const).find(isTaken) ?? 'identity';
}
