import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { VersionRef } from '#catalog/artifact-store.ts';
import { taggedOf, type VersionView } from '#catalog/version/version-view.ts';
import {
  artifactAuditOut,
  artifactListOut,
  artifactOut,
  toArtifactAuditEntryOut,
} from '#catalog/version/version-out.ts';
import { entityTagOf, specTagOf } from '#catalog/version/entity-tag.ts';
import {
  deprecationHeaders,
  renderVersion,
  revalidated,
  toArtifactSummaryOut,
  versionHeaders,
} from '#catalog/version/version-response.ts';
import type { SpecView } from '#catalog/reading/read-catalog.ts';
import type { SpecFormat } from '#catalog/spec/spec-yaml.ts';
import type { StoredResponse } from '#shared/idempotency.ts';
import type { Pagination } from '#shared/pagination/page.ts';
import { forCatalogReaders, readerOf } from '../../auth/catalog-access.ts';
import { matchesNone, prefersYaml } from '../../requests/headers.ts';
import type { BearerContext, Exchange, HttpApp } from '../../context.ts';
import { sendResponse } from '../../responses/idempotent-response.ts';
import { linkNext } from '../../responses/headers.ts';
import { JSON_MEDIA_TYPE, sendRendered, toSendable } from '../../responses/rendered-response.ts';
import { createResponseCache, type ResponseCache } from '../../responses/response-cache.ts';
import { pageQuery } from '../../requests/parameters.ts';
import { artifactParams, catalogQuery, versionHeaderNames, versionQuery } from './schema.ts';
import { describeRoute } from '../../openapi/describe-route.ts';
import { withCheck } from '../../requests/validate-request.ts';

const PATH = '/api/v1/catalog';

/** Reading one version, the list, an artifact's versions and its audit, and a spec alone. */
export function addCatalogReads(app: HttpApp, context: BearerContext): void {
  const { catalog } = context;
  const toPage = <Item, Out>(
    { request, reply }: Exchange,
    { items, pagination }: { items: readonly Item[]; pagination: Pagination },
    toOut: (item: Item) => Out,
  ) => {
    reply.headers(revalidated);
    linkNext(request, reply, { pagination, publicUrl: context.publicUrl() });
    return { items: items.map(toOut), pagination };
  };
  const cache = createResponseCache<RenderedVersion>(() => catalog.dataVersion());
  const checkWords = ({ query }: FastifyRequest) => catalog.problemsInFilter(query);
  app.get(PATH, withCheck(listRoute, checkWords), async (request, reply) => {
    const page = await catalog.list(readerOf(request), request.query);
    return toPage({ request, reply }, page, toArtifactSummaryOut);
  });
  app.get(`${PATH}/:id`, readRoute, async (request, reply) =>
    respondToRead(context, cache, {
      request,
      reply,
      ref: { ...request.params, ...request.query },
    }),
  );
  app.get(`${PATH}/:id/versions`, versionsRoute, async (request, reply) => {
    const query = { ...request.params, ...request.query };
    const page = await catalog.listVersions(readerOf(request), query);
    return toPage({ request, reply }, page, toArtifactSummaryOut);
  });
  app.get(`${PATH}/:id/audit`, auditRoute, async (request, reply) => {
    const query = { ...request.params, ...request.query };
    const page = await catalog.listAudit(readerOf(request), query);
    return toPage({ request, reply }, page, toArtifactAuditEntryOut);
  });
  addSpecRead(app, context);
}

/** The spec of a conditional read is fetched only when the caller does not have it. */
async function respondToRead(
  { catalog }: BearerContext,
  cache: ResponseCache<RenderedVersion>,
  { request, reply, ref }: Exchange & { ref: VersionRef },
) {
  const reader = readerOf(request);
  const condition = request.headers['if-none-match'];
  if (condition !== undefined) {
    const view = await catalog.read(reader, { ...ref, withSpec: false });
    if (matchesNone(condition, entityTagOf(taggedOf(view))))
      return reply.code(304).headers(versionHeaders(view)).send();
  }
  const key = JSON.stringify([reader.workspaceId, ref.id, ref.version]);
  const { body, etag, headers } = await cache.read(key, async () =>
    renderedVersion(await catalog.read(reader, { ...ref, withSpec: true })),
  );
  return sendRendered({ request, reply }, { bytes: body, etag }, headers);
}

const listHeaders = ['Cache-Control', 'Vary', 'Link'] as const;

const listRoute = describeRoute({
  ...forCatalogReaders,
  operationId: 'listCatalog',
  summary: 'List and search artifacts',
  description:
    'Scope `catalog:read`. Newest artifacts first, each by its default version (else a draft, else a retired one); with `versions=all` every version. All filters must hold.',
  request: { querystring: catalogQuery },
  ok: { 200: { description: 'One page of artifacts.', schema: artifactListOut } },
  headers: listHeaders,
  problems: ['invalid-cursor'],
});

const readRoute = describeRoute({
  ...forCatalogReaders,
  operationId: 'readArtifact',
  summary: 'Read one version of an artifact',
  description:
    'Scope `catalog:read`. Without `version`: the set default, else the highest PUBLISHED version (releases before pre-releases), else the highest DEPRECATED one.',
  request: { params: artifactParams, querystring: versionQuery },
  ok: { 200: { description: 'The version.', schema: artifactOut } },
  notModified: true,
  headers: versionHeaderNames,
  problems: ['artifact-not-found', 'no-published-version'],
});

const versionsRoute = describeRoute({
  ...forCatalogReaders,
  operationId: 'listArtifactVersions',
  summary: 'List the versions of an artifact',
  description: 'Scope `catalog:read`. Highest version first.',
  request: { params: artifactParams, querystring: pageQuery },
  ok: { 200: { description: 'One page of versions.', schema: artifactListOut } },
  headers: listHeaders,
  problems: ['artifact-not-found', 'invalid-cursor'],
});

const auditRoute = describeRoute({
  ...forCatalogReaders,
  operationId: 'readArtifactAudit',
  summary: 'See who changed an artifact',
  description: 'Scope `catalog:read`. Newest first.',
  request: { params: artifactParams, querystring: pageQuery },
  ok: { 200: { description: 'One page of audit entries.', schema: artifactAuditOut } },
  headers: listHeaders,
  problems: ['artifact-not-found', 'invalid-cursor'],
});

/** Reading the spec of one version alone, as JSON or YAML. */
function addSpecRead(app: HttpApp, { catalog }: BearerContext): void {
  const cache = createResponseCache<StoredResponse>(() => catalog.dataVersion());
  app.get('/api/v1/catalog/:id/spec', specRoute, async (request, reply) =>
    respondToSpec(catalog, cache, {
      request,
      reply,
      ref: { ...request.params, ...request.query },
    }),
  );
}

/** The spec of a conditional read is fetched only when the caller does not have it. */
async function respondToSpec(
  catalog: BearerContext['catalog'],
  cache: ResponseCache<StoredResponse>,
  { request, reply, ref }: Exchange & { ref: VersionRef },
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
    : sendResponse(reply, response);
}

/** The media types of a spec, the first by default. */
const specMediaTypes = ['application/json', 'application/yaml'] as const;

const specRoute = describeRoute({
  ...forCatalogReaders,
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
  headers: versionHeaderNames,
  problems: ['artifact-not-found', 'no-published-version', 'not-found'],
});

/** A version as `sendRendered` takes it, for a read: its `ETag` apart, and other headers in a list. */
function renderedVersion(view: VersionView): RenderedVersion {
  const { etag = '', ...headers } = versionHeaders(view);
  const body = toSendable(Buffer.from(renderVersion(view)));
  return { body, etag, headers: Object.entries(headers).flat() };
}

type RenderedVersion = { body: Buffer | string; etag: string; headers: readonly string[] };

/** The headers of a response with a spec alone, a 304 too. */
function specHeaders(view: VersionView, format: SpecFormat): Record<string, string> {
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
function specResponse({ view, format, text }: SpecView): StoredResponse {
  const headers = specHeaders(view, format);
  const mediaType = format === 'json' ? JSON_MEDIA_TYPE : 'application/yaml';
  return { status: 200, headers: { ...headers, 'content-type': mediaType }, body: text };
}
