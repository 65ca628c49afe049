/**
 * The response with one version, as it is sent and as it is stored for an idempotency key. Pure: where the
 * change is written, it is rendered in the transaction of the change.
 */
import { toRfc3339 } from '#shared/clock.ts';
import type { StoredResponse } from '#shared/idempotency.ts';
import type { VersionRecord } from './artifact.ts';
import { entityTagOf } from './entity-tag.ts';
import type { ArtifactSummaryOut } from './version-out.ts';
import { taggedOf, type VersionView } from './version-view.ts';

/** What every response of the catalog says about its caching. */
export const revalidated = {
  'cache-control': 'private, no-cache',
  vary: 'Authorization, X-API-KEY',
} as const;

/** A response with one version; `isCreated` adds its status and `Location`. */
export function versionResponse(view: VersionView, { isCreated = false } = {}): StoredResponse {
  return {
    status: isCreated ? 201 : 200,
    headers: {
      ...versionHeaders(view),
      'content-type': 'application/json; charset=utf-8',
      ...(isCreated && { location: addressOf(view.record) }),
    },
    body: renderVersion(view),
  };
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

/** Where exactly this version is. */
export function addressOf({ id, version }: { id: string; version: string }): string {
  return `/api/v1/catalog/${encodeURIComponent(id)}?version=${encodeURIComponent(version)}`;
}

/** `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and what takes the version's place (RFC 5829). */
export function deprecationHeaders({ record, successor }: VersionView): Record<string, string> {
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
export function renderVersion({ record, specText, members, counts }: VersionView): string {
  const text = JSON.stringify({
    ...toArtifactSummaryOut(record),
    members,
    counts,
    ...(record.findings.length > 0 && { findings: record.findings }),
  });
  return specText === undefined ? text : `${text.slice(0, -1)},"spec":${specText}}`;
}

/** A row of a list. */
export function toArtifactSummaryOut(record: VersionRecord): ArtifactSummaryOut {
  const { id, version, type, owner, title, description, lifecycle, source } = record;
  const { workspaceId, projectId, groupPath, publishedAt, sunsetAt } = record;
  return {
    id,
    version,
    type,
    owner,
    title,
    description,
    lifecycle,
    source,
    createdAt: toRfc3339(record.createdAt),
    updatedAt: toRfc3339(record.updatedAt),
    ...(publishedAt !== undefined && { publishedAt: toRfc3339(publishedAt) }),
    ...(sunsetAt !== undefined && { sunsetAt: toRfc3339(sunsetAt) }),
    workspaceId,
    projectId,
    groupPath,
  };
}
