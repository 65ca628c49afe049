import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { VersionRef } from '#catalog/artifact-store.ts';
import { specTagOf } from '#catalog/version/entity-tag.ts';
import type { StoredResponse } from '#shared/idempotency.ts';
import { forCatalogReaders, readerOf } from '../../auth/catalog-access.ts';
import type { HttpApp } from '../../http-app.ts';
import { bearerProblems, describeRoute } from '../../openapi/describe-route.ts';
import { prefersYaml } from '../../requests/accept.ts';
import { matchesNone } from '../../requests/precondition.ts';
import { sendResponse } from '../../responses/idempotent-response.ts';
import { createResponseCache, type ResponseCache } from '../../responses/response-cache.ts';
import type { CatalogRoutesDeps } from './caller.ts';
import { specHeaders, specMediaTypes, specResponse, versionHeaderNames } from './response.ts';
import { artifactParams, versionQuery } from './schema.ts';

/** Reading the spec of one version alone, as JSON or YAML. */
export function addSpecRead(app: HttpApp, deps: CatalogRoutesDeps): void {
  const cache = createResponseCache<StoredResponse>(() => deps.catalog.version());
  app.get('/api/v1/catalog/:id/spec', specRoute, async (request, reply) =>
    respondToSpec(
      { ...deps, cache },
      { request, reply, ref: { ...request.params, ...request.query } },
    ),
  );
}

type Reading = { request: FastifyRequest; reply: FastifyReply; ref: VersionRef };

/** The spec of a conditional read is fetched only when the caller does not have it. */
async function respondToSpec(
  { catalog, cache }: CatalogRoutesDeps & { cache: ResponseCache<StoredResponse> },
  { request, reply, ref }: Reading,
) {
  const reader = readerOf(request);
  const format = prefersYaml(request.headers.accept) ? 'yaml' : 'json';
  const condition = request.headers['if-none-match'];
  // `*` asks whether there is a spec, which only reading it tells; a tag is of one that was there.
  if (condition !== undefined && condition.trim() !== '*') {
    const view = await catalog.read(reader, { ...ref, withSpec: false });
    if (matchesNone(condition, specTagOf(view.record, format)))
      return reply.code(304).headers(specHeaders(view, format)).send();
  }
  const key = JSON.stringify([reader.workspaceId, ref.id, ref.version, format]);
  const response = await cache.read(key, async () =>
    specResponse(await catalog.readSpec(reader, { ...ref, format })),
  );
  const { 'content-type': _mediaType, ...headers } = response.headers;
  return matchesNone(condition, headers['etag'] ?? '')
    ? reply.code(304).headers(headers).send()
    : sendResponse(reply, { response });
}

const specRoute = forCatalogReaders(
  describeRoute({
    tag: 'Catalog',
    operationId: 'readArtifactSpec',
    summary: 'Read the spec of one version alone',
    description:
      'Scope `catalog:read`. As JSON, or as YAML when `Accept` wants `application/yaml` more; other types get JSON, and so does a spec whose YAML would be longer than 16 Mi characters. The `ETag` is one for `If-Match`, too. Without `version`: the version that a read returns.',
    request: { params: artifactParams, querystring: versionQuery },
    ok: {
      200: {
        description: 'The spec.',
        schema: z.record(z.string(), z.unknown()),
        mediaTypes: specMediaTypes,
      },
    },
    notModified: true,
    responseHeaders: { 200: versionHeaderNames, 304: versionHeaderNames },
    problems: ['artifact-not-found', 'no-published-version', 'not-found', ...bearerProblems],
  }),
);
