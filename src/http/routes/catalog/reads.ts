import type { FastifyRequest } from 'fastify';
import type { VersionRef } from '#catalog/artifact-store.ts';
import { taggedOf } from '#catalog/version/version-view.ts';
import {
  artifactAuditOut,
  artifactListOut,
  artifactOut,
  toArtifactAuditEntryOut,
} from '#catalog/version/version-out.ts';
import { entityTagOf } from '#catalog/version/entity-tag.ts';
import {
  revalidated,
  toArtifactSummaryOut,
  versionHeaders,
} from '#catalog/version/version-response.ts';
import type { Pagination } from '#shared/pagination/page.ts';
import { forCatalogReaders, readerOf } from '../../auth/catalog-access.ts';
import { renderedVersion, type RenderedVersion, versionHeaderNames } from './response.ts';
import { matchesNone } from '../../requests/precondition.ts';
import type { BearerContext, Exchange, HttpApp } from '../../http-app.ts';
import { linkNext } from '../../responses/next-link.ts';
import { sendRendered } from '../../responses/send-rendered.ts';
import { createResponseCache, type ResponseCache } from '../../responses/response-cache.ts';
import { pageQuery } from '../../requests/parameters.ts';
import { artifactParams, catalogQuery, versionQuery } from './schema.ts';
import { describeRoute } from '../../openapi/describe-route.ts';
import { withCheck } from '../../requests/validate-request.ts';

const PATH = '/api/v1/catalog';

/** Reading one version, the list, an artifact's versions and its audit. */
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
