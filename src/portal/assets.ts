/**
 * The portal's own files. They are named by their digest, so that a browser may keep them for ever and
 * still gets the new ones after an update; read once, at the first page.
 */
import { readFileSync } from 'node:fs';
import { sha256 } from '#shared/crypto/hash.ts';
import { programUrl } from '#shared/program.ts';
import type { HttpApp } from '#http/context.ts';
import { type RenderedResponse, sendRendered } from '#http/responses/rendered-response.ts';
import { TrackportError } from '#shared/errors.ts';

const MEDIA_TYPES = {
  'portal.css': 'text/css; charset=utf-8',
  'portal.js': 'text/javascript; charset=utf-8',
  'mark.svg': 'image/svg+xml',
} as const;

type AssetName = keyof typeof MEDIA_TYPES;

/** A file of `/portal/assets/{file}`. */
type Asset = RenderedResponse & { name: AssetName };

let loaded: ReadonlyMap<string, Asset> | undefined;

/** The path of a file, as pages name it. */
export function assetPath(name: AssetName): string {
  for (const [file, asset] of assets()) if (asset.name === name) return `/portal/assets/${file}`;
  throw new Error(`no asset ${name}`);
}

/** The file of that name with its digest; undefined for any other. */
export function findAsset(file: string): Asset | undefined {
  return assets().get(file);
}

function assets(): ReadonlyMap<string, Asset> {
  loaded ??= new Map((Object.keys(MEDIA_TYPES) as AssetName[]).map(load));
  return loaded;
}

function load(name: AssetName): [string, Asset] {
  const bytes = readFileSync(programUrl(`assets/portal/${name}`));
  const digest = sha256(bytes).toString('hex').slice(0, 16);
  const mediaType = MEDIA_TYPES[name];
  return [name.replace('.', `-${digest}.`), { name, mediaType, etag: `"${digest}"`, bytes }];
}

/** A year; what is named by its digest never changes. */
const HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  'cross-origin-resource-policy': 'same-origin',
};

/** `/portal/assets/{name}-{digest}.{ext}`: for anybody, sign-in pages need them as well. */
export function addAssetRoutes(app: HttpApp): void {
  const options = { schema: { hide: true }, config: { freeQuery: true } } as const;
  app.get<{ Params: { file: string } }>('/portal/assets/:file', options, async (request, reply) => {
    const asset = findAsset(request.params.file);
    if (!asset) throw new TrackportError('not-found', { detail: 'There is no such file.' });
    return sendRendered({ request, reply }, asset, HEADERS);
  });
}
