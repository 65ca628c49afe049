/**
 * The portal's own files. They are named by their digest, so that a browser may keep them for ever and
 * still gets the new ones after an update; read once, at the first page.
 */
import { readFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { sha256 } from '#shared/crypto/hash.ts';
import { programUrl } from '#shared/program.ts';

const MEDIA_TYPES = {
  'portal.css': 'text/css; charset=utf-8',
  'portal.js': 'text/javascript; charset=utf-8',
  'mark.svg': 'image/svg+xml',
} as const;

export type AssetName = keyof typeof MEDIA_TYPES;

/** What `/portal/assets/{file}` sends. */
export type Asset = {
  mediaType: string;
  etag: string;
  /** By the name of the encoding. */
  bodies: Readonly<Record<'identity' | 'gzip' | 'br', Buffer>>;
};

let loaded: ReadonlyMap<string, Asset & { name: AssetName }> | undefined;

/** The path of a file, as pages name it. */
export function assetPath(name: AssetName): string {
  for (const [file, asset] of assets()) if (asset.name === name) return `/portal/assets/${file}`;
  throw new Error(`no asset ${name}`);
}

/** The file of that name with its digest; undefined for any other. */
export function findAsset(file: string): Asset | undefined {
  return assets().get(file);
}

function assets(): ReadonlyMap<string, Asset & { name: AssetName }> {
  loaded ??= new Map((Object.keys(MEDIA_TYPES) as AssetName[]).map(load));
  return loaded;
}

function load(name: AssetName): [string, Asset & { name: AssetName }] {
  const body = readFileSync(programUrl(`assets/portal/${name}`));
  const digest = sha256(body).toString('hex').slice(0, 16);
  const bodies = { identity: body, gzip: gzipSync(body), br: brotliCompressSync(body) };
  const mediaType = MEDIA_TYPES[name];
  return [name.replace('.', `-${digest}.`), { name, mediaType, etag: `"${digest}"`, bodies }];
}
