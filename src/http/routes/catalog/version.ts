/** One version in requests and responses: how it is named, its headers, and what is stored for an idempotency key. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Caller } from '#catalog/index.ts';
import { entityTagOf } from '#catalog/version/entity-tag.ts';
import { renderVersion } from '#catalog/version/version-out.ts';
import type { StoredView } from '#catalog/version/store-version.ts';
import { ARTIFACT_ID, type VersionView } from '#catalog/version/artifact.ts';
import { versionText } from '#catalog/version/content-check.ts';
import { memoize } from '#shared/caching.ts';
import {
  type KeyedCall,
  type KeyedRequest,
  putCall,
  type StoredResponse,
} from '#shared/idempotency.ts';
import { tokenOf } from '../../auth/bearer.ts';
import { callerOf } from '../../auth/catalog-access.ts';
import type { BearerContext, Exchange } from '../../context.ts';
import { ENTITY_TAGS } from '../../requests/entity-tags.ts';
import { routedPath } from '../../requests/paths.ts';
import { JSON_MEDIA_TYPE, REVALIDATED } from '../../responses/headers.ts';

export const version = versionText('must be given once');

export const artifactParams = z.object({
  id: z.string().meta({ description: 'In any case.', pattern: ARTIFACT_ID.source }),
});

export const optionalVersion = version
  .optional()
  .describe('Name it: what a call without it means can change at any time.');

export const versionQuery = z.strictObject({ version: optionalVersion });
export const ifMatchHeader = z.object({
  'If-Match': z
    .string()
    .regex(ENTITY_TAGS, 'must be `*` or a list of entity tags in double quotes')
    .optional()
    .describe('The `ETag` that the change is based on, or `*`.'),
});

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

/** Of every response of the catalog: for one caller, who revalidates it at every use. */
export const revalidated = {
  'Cache-Control': REVALIDATED,
  Vary: 'Authorization, X-API-KEY',
} as const;

/** Renders a view once: what is stored under a key is what is sent. */
export const versionResponse = memoize((view: VersionView): StoredResponse => ({
  status: view.isCreated ? 201 : 200,
  headers: {
    ...versionHeaders(view),
    'content-type': JSON_MEDIA_TYPE,
    ...(view.isCreated && { location: addressOf(view.record) }),
  },
  body: renderVersion(view),
}));

/** The headers of a response with one version, a 304 too. */
export function versionHeaders(view: VersionView): Record<string, string> {
  return {
    ...revalidated,
    etag: entityTagOf(view),
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
export function storeUnderKey(call: KeyedCall): NonNullable<Caller['storeUnderKey']> {
  return (tx, view) => putCall(tx, { ...call, response: versionResponse(view) });
}

/**
 * Does the work of a `POST` once per `Idempotency-Key` and principal, and always where there is no such header, and
 * responds with the version. `Idempotency.respond` sends a repeat the first response, or has the work done; the use case
 * ends its transaction with `toStoredView`, as its result tells, by `storeUnderKey`: the change and the response are
 * committed together.
 * @throws {idempotency-in-progress} @throws {idempotency-mismatch}
 */
export async function respondWithVersion(
  { idempotency }: Pick<BearerContext, 'idempotency'>,
  { request, reply }: Exchange,
  work: (caller: Caller) => Promise<StoredView>,
): Promise<FastifyReply> {
  const caller = callerOf(request);
  const keyed = keyedRequestOf(request);
  if (!keyed) return sendResponse(reply, versionResponse(await work(caller)));
  const { response, isReplayed } = await idempotency.respond(keyed, {
    work: async (call) =>
      versionResponse(await work({ ...caller, storeUnderKey: storeUnderKey(call) })),
    isStoredByWork: true,
  });
  if (isReplayed) reply.header('idempotent-replayed', 'true');
  return sendResponse(reply, response);
}

function keyedRequestOf(request: FastifyRequest): KeyedRequest | undefined {
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string') return undefined;
  const { workspaceId, subject, clientId = '' } = tokenOf(request);
  return {
    workspaceId,
    principal: JSON.stringify([subject, clientId]),
    route: `${request.method} ${routedPath(request.url)}`,
    key,
    payload: [
      request.query,
      request.headers['if-match'],
      request.body,
      ...(request.spec ? [request.spec.digest] : []),
    ],
  };
}

/** Sends a response that is rendered already. */
export function sendResponse(
  reply: FastifyReply,
  { status, headers, body }: StoredResponse,
): FastifyReply {
  return reply.code(status).headers(headers).send(body);
}
