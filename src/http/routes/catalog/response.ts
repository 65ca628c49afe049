import {
  deprecationHeaders,
  renderVersion,
  revalidated,
  versionHeaders,
} from '#catalog/version/version-response.ts';
import type { VersionView } from '#catalog/version/version-view.ts';
import type { SpecView } from '#catalog/reading/read-catalog.ts';
import type { SpecFormat } from '#catalog/spec/spec-yaml.ts';
import { specTagOf } from '#catalog/version/entity-tag.ts';
import type { StoredResponse } from '#shared/idempotency.ts';
import { JSON_MEDIA_TYPE, toSendable } from '../../responses/rendered-response.ts';

/** The names of the headers of a version, those of a deprecated one among them, for openapi.json. */
export const versionHeaderNames = [
  'ETag',
  'Cache-Control',
  'Vary',
  'Content-Location',
  'Deprecation',
  'Sunset',
  'Link',
] as const;

/** A version as `sendRendered` takes it, for a read: its `ETag` apart, and other headers in a list. */
export function renderedVersion(view: VersionView): RenderedVersion {
  const { etag = '', ...headers } = versionHeaders(view);
  const body = toSendable(Buffer.from(renderVersion(view)));
  return { body, etag, headers: Object.entries(headers).flat() };
}

export type RenderedVersion = { body: Buffer | string; etag: string; headers: readonly string[] };

/** The media types of a spec, the first by default. */
export const specMediaTypes = ['application/json', 'application/yaml'] as const;

/** The headers of a response with a spec alone, a 304 too. */
export function specHeaders(view: VersionView, format: SpecFormat): Record<string, string> {
  const { record } = view;
  const version = encodeURIComponent(record.version);
  return {
    ...revalidated,
    vary: `${revalidated.vary}, Accept`,
    etag: specTagOf(record, format),
    'content-location': `/api/v1/catalog/${encodeURIComponent(record.id)}/spec?version=${version}`,
    ...deprecationHeaders(view),
  };
}

/** A response with a spec alone. */
export function specResponse({ view, format, text }: SpecView): StoredResponse {
  const headers = specHeaders(view, format);
  const mediaType = format === 'json' ? JSON_MEDIA_TYPE : 'application/yaml';
  return { status: 200, headers: { ...headers, 'content-type': mediaType }, body: text };
}
