/** Responses with one version of the catalog: their headers, and what is stored for an idempotency key. */
import type { Caller } from '#catalog/index.ts';
import { entityTagOf } from '#catalog/version/entity-tag.ts';
import { renderVersion } from '#catalog/version/version-out.ts';
import type { VersionView } from '#catalog/version/artifact.ts';
import { taggedOf } from '#catalog/version/version-view.ts';
import { memoize } from '#shared/caching.ts';
import { type KeyedCall, putCall, type StoredResponse } from '#shared/idempotency.ts';
import type { FastifyReply } from 'fastify';
import { callerOf } from '../../auth/catalog-access.ts';
import type { BearerContext, Exchange } from '../../context.ts';
import { respondOnce } from '../../responses/idempotent-response.ts';

/** Headers about caching, of every response of the catalog. */
export const revalidated = {
  'cache-control': 'private, no-cache',
  vary: 'Authorization, X-API-KEY',
} as const;

/** Renders a view once: what is stored under a key is what is sent. */
export const versionResponse = memoize((view: VersionView): StoredResponse => ({
  status: view.isCreated ? 201 : 200,
  headers: {
    ...versionHeaders(view),
    'content-type': 'application/json; charset=utf-8',
    ...(view.isCreated && { location: addressOf(view.record) }),
  },
  body: renderVersion(view),
}));

/** The headers of a response with one version, a 304 too. */
export function versionHeaders(view: VersionView): Record<string, string> {
  return {
    ...revalidated,
    etag: entityTagOf(taggedOf(view)),
    'content-location': addressOf(view.record),
    ...deprecationHeaders(view),
  };
}

/** Path of exactly this version. */
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

/** Stores the response with the version for the idempotency key of the call that wrote it. */
export function storeUnder(call: KeyedCall): NonNullable<Caller['storeResponse']> {
  return (tx, view) => putCall(tx, { ...call, response: versionResponse(view) });
}

/**
 * Does the work once per idempotency key, and responds with the version.
 * @throws {idempotency-in-progress} @throws {idempotency-mismatch}
 */
export function respondWithVersion(
  { idempotency }: Pick<BearerContext, 'idempotency'>,
  exchange: Exchange,
  work: (caller: Caller) => Promise<VersionView>,
): Promise<FastifyReply> {
  return respondOnce(idempotency, exchange, async (call) => {
    const caller = {
      ...callerOf(exchange.request),
      ...(call && { storeResponse: storeUnder(call) }),
    };
    return versionResponse(await work(caller));
  });
}
