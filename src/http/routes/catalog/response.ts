import { taggedOf } from '#catalog/version/version-view.ts';
import type { VersionView } from '#catalog/version/version-view.ts';
import { toArtifactSummaryOut } from '#catalog/version/version-out.ts';
import type { SpecView } from '#catalog/spec/read-spec.ts';
import type { SpecFormat } from '#catalog/spec/spec-yaml.ts';
import { entityTagOf, specTagOf } from '#catalog/version/entity-tag.ts';
import type { StoredResponse } from '#shared/idempotency.ts';
import { revalidatedFor } from '../../responses/cache-headers.ts';
import { JSON_MEDIA_TYPE, toSendable } from '../../responses/rendered-response.ts';

/** What every response of the catalog says about its caching. */
export const revalidated = revalidatedFor('Authorization, X-API-KEY');

/** Where exactly this version is. */
export function addressOf({ id, version }: { id: string; version: string }): string {
  return `/api/v1/catalog/${encodeURIComponent(id)}?version=${encodeURIComponent(version)}`;
}

/** The headers of a response with one version, a 304 too. */
export function versionHeaders(view: VersionView): Record<string, string> {
  return {
    ...revalidated,
    etag: entityTagOf(taggedOf(view)),
    'content-location': addressOf(view.record),
    ...deprecationHeaders(view),
  };
}

/** The names of these headers, those of a deprecated version among them, for openapi.json. */
export const versionHeaderNames = [
  'ETag',
  'Cache-Control',
  'Vary',
  'Content-Location',
  'Deprecation',
  'Sunset',
  'Link',
] as const;

/** A response with one version; `isCreated` adds its status and `Location`. */
export function versionResponse(view: VersionView, { isCreated = false } = {}): StoredResponse {
  return {
    status: isCreated ? 201 : 200,
    headers: {
      ...versionHeaders(view),
      'content-type': JSON_MEDIA_TYPE,
      ...(isCreated && { location: addressOf(view.record) }),
    },
    body: renderVersion(view),
  };
}

/** The same as `SendRendered` takes it, for a read: its `ETag` apart, and other headers in a list. */
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

/** `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and what takes the version's place (RFC 5829). */
function deprecationHeaders({ record, successor }: VersionView): Record<string, string> {
  const { deprecatedAt, sunsetAt, id } = record;
  if (deprecatedAt === undefined) return {};
  const links = [
    ...(successor === undefined
      ? []
      : [`<${addressOf({ id, version: successor })}>; rel="successor-version"`]),
    `</api/v1/catalog/${encodeURIComponent(id)}/versions>; rel="version-history"`,
  ];
  return {
    deprecation: `@${Math.floor(deprecatedAt / 1000)}`,
    ...(sunsetAt !== undefined && { sunset: new Date(sunsetAt).toUTCString() }),
    link: links.join(', '),
  };
}

/** The spec goes out as the text that is stored: it is never parsed to be read. */
function renderVersion({ record, specText, members, counts }: VersionView): string {
  const text = JSON.stringify({
    ...toArtifactSummaryOut(record),
    ...(members !== undefined && { members }),
    counts,
    ...(record.findings.length > 0 && { findings: record.findings }),
  });
  return specText === undefined ? text : `${text.slice(0, -1)},"spec":${specText}}`;
}
