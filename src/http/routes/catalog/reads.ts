import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { filterProblems, groupPath, source, text, type } from '#catalog/version/content-check.ts';
import { isSearchable, SEARCH_TERMS_MAX } from '#catalog/reading/search-terms.ts';
import { listAudit, listCatalog, listVersions, readSpec } from '#catalog/reading/read-catalog.ts';
import {
  lifecycles,
  OWNER_CHARACTERS_MAX,
  PROJECT_ID_CHARACTERS_MAX,
  type VersionRef,
  type VersionView,
} from '#catalog/version/artifact.ts';
import type { Catalog } from '#catalog/index.ts';
import {
  artifactAuditOut,
  artifactListOut,
  artifactOut,
  artifactUsageOut,
  renderVersion,
  toArtifactAuditEntryOut,
  toArtifactSummaryOut,
} from '#catalog/version/version-out.ts';
import { readUsage, type Usage } from '#catalog/usage.ts';
import { toRfc3339 } from '#shared/clock.ts';
import { readView } from '#catalog/version/version-view.ts';
import { specTagOf } from '#catalog/version/entity-tag.ts';
import type { SpecFormat } from '#catalog/spec/spec-text.ts';
import type { Page } from '#shared/pagination/page.ts';
import { forCatalogReaders, readByOf, readerOf } from '../../auth/catalog-access.ts';
import { matchesNone } from '../../requests/entity-tags.ts';
import { prefersYaml } from '../../requests/headers.ts';
import type { BearerContext, Exchange, HttpApp } from '../../context.ts';
import { linkNext } from '../../responses/headers.ts';
import {
  type CachedResponse,
  createResponseCache,
  type ResponseCache,
  sendRendered,
} from '../../responses/rendered-response.ts';
import { pageParameters, pageQuery } from '../../requests/parameters.ts';
import { describeRoute, withCheck } from '../../route.ts';
import {
  artifactParams,
  deprecationHeaders,
  revalidated,
  versionHeaderNames,
  versionHeaders,
  versionQuery,
} from './version.ts';

const PATH = '/api/v1/catalog';

/** Reading one version, the list, an artifact's versions and its audit, and a spec alone. */
export function addCatalogReads(app: HttpApp, context: BearerContext): void {
  const { catalog } = context;
  const toPage = <Item, Out>(
    { request, reply }: Exchange,
    { items, pagination }: Page<Item>,
    toOut: (item: Item) => Out,
  ) => {
    linkNext(request, reply, { pagination, publicUrl: context.publicUrl() });
    return { items: items.map(toOut), pagination };
  };
  const checkWords = ({ query }: FastifyRequest) => filterProblems(query, catalog.rules());
  app.get(PATH, withCheck(listRoute, checkWords), async (request, reply) => {
    const page = await listCatalog(catalog, readerOf(request), request.query);
    return toPage({ request, reply }, page, toArtifactSummaryOut);
  });
  const cache = createResponseCache<Rendered>(() => catalog.db.dataVersion());
  app.get(`${PATH}/:id`, readRoute, (request, reply) => {
    const ref = { ...request.params, ...request.query };
    return respondToRead({ request, reply }, { catalog, cache, ref, ...theVersion });
  });
  app.get(`${PATH}/:id/versions`, versionsRoute, async (request, reply) => {
    const query = { ...request.params, ...request.query };
    const page = await listVersions(catalog, readerOf(request), query);
    return toPage({ request, reply }, page, toArtifactSummaryOut);
  });
  app.get(`${PATH}/:id/audit`, auditRoute, async (request, reply) => {
    const query = { ...request.params, ...request.query };
    const page = await listAudit(catalog, readerOf(request), query);
    return toPage({ request, reply }, page, toArtifactAuditEntryOut);
  });
  app.get(`${PATH}/:id/spec`, specRoute, (request, reply) => {
    const ref = { ...request.params, ...request.query };
    const what = prefersYaml(request.headers.accept) ? specAs.yaml : specAs.json;
    return respondToRead({ request, reply }, { catalog, cache, ref, ...what });
  });
}

type Reader = ReturnType<typeof readerOf>;

/** A reading of a version: all of it, or its spec alone. */
type Content = {
  /** Differs from those of others. */
  name: string;
  /** Those of a 304, too. */
  headersOf: (view: VersionView) => Readonly<Record<string, string>>;
  render: (catalog: Catalog, reader: Reader, ref: VersionRef) => Promise<Rendered>;
};

/** `serial`: of the version. */
type Rendered = CachedResponse & { serial: number };

function toRendered(
  { record }: VersionView,
  text: string,
  all: CachedResponse['headers'],
): Rendered {
  const { etag = '', ...headers } = all;
  return { bytes: Buffer.from(text), etag, headers, serial: record.serial };
}

const theVersion: Content = {
  name: 'version',
  headersOf: versionHeaders,
  render: async (catalog, reader, ref) => {
    const view = await readView(catalog.db, reader, { ...ref, withSpec: true });
    return toRendered(view, renderVersion(view), versionHeaders(view));
  },
};

/** As YAML it is JSON all the same where that would be too long. */
const specAs = { json: specIn('json'), yaml: specIn('yaml') };

function specIn(wanted: SpecFormat): Content {
  return {
    name: wanted,
    headersOf: (view) => specHeaders(view, wanted),
    render: async (catalog, reader, ref) => {
      const { view, format, text } = await readSpec(catalog, reader, { ...ref, format: wanted });
      const mediaType = format === 'yaml' ? 'application/yaml' : undefined;
      return { ...toRendered(view, text, specHeaders(view, format)), mediaType };
    },
  };
}

type Read = Content & { catalog: Catalog; cache: ResponseCache<Rendered>; ref: VersionRef };

/** The content of a conditional read is fetched only when the caller does not have it. It counts as a read all the same. */
async function respondToRead(
  exchange: Exchange,
  { catalog, cache, ref, name, headersOf, render }: Read,
) {
  const { request } = exchange;
  const reader = readerOf(request);
  const condition = request.headers['if-none-match'];
  // `*` asks whether there is a content, which only reading it tells; a tag is of one that was there.
  if (condition !== undefined && condition.trim() !== '*') {
    const view = await readView(catalog.db, reader, { ...ref, withSpec: false });
    const { headers, serial, ...head } = toRendered(view, '', headersOf(view));
    if (matchesNone(condition, head.etag)) {
      countRead(catalog, request, serial);
      return sendRendered(exchange, head, headers);
    }
  }
  const key = JSON.stringify([reader.workspaceId, ref.id, ref.version, name]);
  const { headers, serial, ...content } = await cache.read(key, () => render(catalog, reader, ref));
  countRead(catalog, request, serial);
  return sendRendered(exchange, content, headers);
}

/** Puts a read of a version into the record. HEAD only asks about it. */
function countRead({ usage }: Catalog, request: FastifyRequest, serial: number): void {
  if (request.method === 'GET') usage.record(serial, readByOf(request));
}

/** The readers of an artifact, by version. */
export function addCatalogUsage(app: HttpApp, { catalog }: BearerContext): void {
  app.get('/api/v1/catalog/:id/usage', usageRoute, async (request) => {
    const isAdmin = request.token?.scopes.includes('trackport:admin') ?? false;
    const self = readByOf(request);
    const usage = await readUsage(catalog, readerOf(request), {
      ...request.params,
      ...request.query,
      mayName: ({ kind, id }) => isAdmin || (kind === self.kind && id === self.id),
    });
    return toUsageOut(usage);
  });
}

function toUsageOut({ items, isTruncated }: Usage): z.infer<typeof artifactUsageOut> {
  return {
    items: items.map(({ version, lifecycle, sunsetAt, readers }) => ({
      version,
      lifecycle,
      ...(sunsetAt !== undefined && { sunsetAt: toRfc3339(sunsetAt) }),
      readers: readers.map(({ lastReadAt, ...reader }) => {
        return { ...reader, lastReadAt: toRfc3339(lastReadAt) };
      }),
    })),
    ...(isTruncated && { truncated: true }),
  };
}

const SEARCH_CHARACTERS_MAX = 200;

const catalogQuery = z.strictObject({
  ...pageParameters,
  type: type.optional(),
  lifecycle: z.enum(lifecycles, `must be one of ${lifecycles.join(', ')}`).optional(),
  owner: text(OWNER_CHARACTERS_MAX).optional(),
  source: source.optional(),
  groupPath: groupPath.optional().describe('The group itself and all below it.'),
  projectId: text(PROJECT_ID_CHARACTERS_MAX).optional(),
  q: text(SEARCH_CHARACTERS_MAX)
    .refine((query) => isSearchable(query), {
      error: `must have 1 to ${SEARCH_TERMS_MAX} words of letters and digits`,
      params: { code: 'out-of-range' },
    })
    .optional()
    .describe(
      'Full text over id, title, description, owner and group path: each word must begin a word there.',
    ),
  versions: z
    .enum(['all'], 'must be `all`')
    .optional()
    .describe('Every version instead of one row per artifact.'),
});

const listRoute = describeRoute({
  ...forCatalogReaders,
  operationId: 'listCatalog',
  summary: 'List and search artifacts',
  description:
    'Scope `catalog:read`. Newest artifacts first, each by its default version (else a draft, else a retired one); with `versions=all` every version. All filters must hold.',
  request: { querystring: catalogQuery },
  ok: { 200: { description: 'One page of artifacts.', schema: artifactListOut } },
  sends: revalidated,
  headers: ['Link'],
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
  sends: revalidated,
  headers: ['Link'],
  problems: ['artifact-not-found', 'invalid-cursor'],
});

const auditRoute = describeRoute({
  ...forCatalogReaders,
  operationId: 'readArtifactAudit',
  summary: 'See who changed an artifact',
  description: 'Scope `catalog:read`. Newest first.',
  request: { params: artifactParams, querystring: pageQuery },
  ok: { 200: { description: 'One page of audit entries.', schema: artifactAuditOut } },
  sends: revalidated,
  headers: ['Link'],
  problems: ['artifact-not-found', 'invalid-cursor'],
});

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

const usageRoute = describeRoute({
  ...forCatalogReaders,
  operationId: 'readArtifactUsage',
  summary: 'See who reads which version',
  description:
    'Scope `catalog:read`. Every version, or the one that is named, with the consumers and clients that read it or its spec in the last 90 days. Lists, searches, comparisons and `HEAD` are no reads.',
  request: { params: artifactParams, querystring: versionQuery },
  ok: { 200: { description: 'Who reads what.', schema: artifactUsageOut } },
  sends: revalidated,
  problems: ['artifact-not-found'],
});

/** The headers of a response with a spec alone, a 304 too. */
function specHeaders(view: VersionView, format: SpecFormat): Record<string, string> {
  const { record } = view;
  const version = encodeURIComponent(record.version);
  return {
    ...revalidated,
    Vary: `${revalidated.Vary}, Accept`,
    etag: specTagOf(record, format),
    'content-location': `/api/v1/catalog/${encodeURIComponent(record.id)}/spec?version=${version}`,
    ...deprecationHeaders(view),
  };
}
