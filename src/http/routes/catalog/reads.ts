import { filterProblems } from '#catalog/version/content-check.ts';
import { listAudit, listCatalog, listVersions, readSpec } from '#catalog/reading/read-catalog.ts';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { changeKinds, CHANGES_MAX, impacts } from '#catalog/diff/changes.ts';
import { type VersionDiff, diffVersions } from '#catalog/diff/diff-versions.ts';
import type { VersionRef, VersionView } from '#catalog/version/artifact.ts';
import type { Catalog } from '#catalog/index.ts';
import {
  artifactAuditOut,
  artifactListOut,
  artifactOut,
  renderVersion,
  toArtifactAuditEntryOut,
  toArtifactSummaryOut,
} from '#catalog/version/version-out.ts';
import { readView } from '#catalog/version/version-view.ts';
import { specTagOf } from '#catalog/version/entity-tag.ts';
import type { SpecFormat } from '#catalog/spec/spec-yaml.ts';
import type { Page } from '#shared/pagination/page.ts';
import { forCatalogReaders, readerOf } from '../../auth/catalog-access.ts';
import { matchesNone, prefersYaml } from '../../requests/headers.ts';
import type { BearerContext, Exchange, HttpApp } from '../../context.ts';
import { linkNext } from '../../responses/headers.ts';
import {
  type CachedResponse,
  createResponseCache,
  type ResponseCache,
  sendRendered,
} from '../../responses/rendered-response.ts';
import { pageQuery } from '../../requests/parameters.ts';
import {
  artifactParams,
  catalogQuery,
  diffQuery,
  versionHeaderNames,
  versionQuery,
} from './schema.ts';
import { countRead } from './usage.ts';
import { describeRoute, withCheck } from '../../route.ts';
import { deprecationHeaders, revalidated, versionHeaders } from './version-response.ts';

const PATH = '/api/v1/catalog';

/** Reading one version, the list, an artifact's versions and its audit, a spec alone, and a comparison. */
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
  addDiffRead(app, context);
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

/** Adds the comparison of two versions of an artifact. */
function addDiffRead(app: HttpApp, { catalog }: BearerContext): void {
  app.get('/api/v1/catalog/:id/diff', diffRoute, async (request, reply) => {
    const { id } = request.params;
    const diff = await diffVersions(catalog, readerOf(request), { id, ...request.query });
    reply.header('content-location', addressOf(id, diff));
    const { truncated, ...out } = diff;
    return { ...out, ...(truncated && { truncated }) };
  });
}

/** Address of exactly this comparison, whatever the defaults are later. */
function addressOf(id: string, { from, to }: VersionDiff): string {
  const query = new URLSearchParams({ from, to }).toString();
  return `/api/v1/catalog/${encodeURIComponent(id)}/diff?${query}`;
}

const changeOut = z
  .object({
    path: z
      .string()
      .describe(
        'A JSON Pointer: `/owner`, `/spec/paths/~1leads/get`. Where it would have more than 1,000 characters, that of a place above.',
      ),
    kind: z.enum(changeKinds),
    impact: z
      .enum(impacts)
      .describe('What it means for who relies on `from`; `unclassified` where nobody can be sure.'),
    text: z.string().describe('In words, such as `from 500 to 200`.'),
  })
  .meta({ id: 'ArtifactChange', description: 'One difference between two versions.' });

const diffOut = z
  .object({
    from: z.string(),
    to: z.string(),
    breaking: z.boolean().describe('Whether any change is known to break.'),
    changes: z.array(changeOut).max(CHANGES_MAX).describe('Breaking ones first.'),
    truncated: z.literal(true).optional().describe('There when there are more changes.'),
  })
  .meta({ id: 'ArtifactDiff', description: 'What changed from one version to another.' });

const diffRoute = describeRoute({
  ...forCatalogReaders,
  operationId: 'diffArtifactVersions',
  summary: 'Compare two versions of an artifact',
  description:
    "Scope `catalog:read`. The two specs and the artifact's own fields, breaking changes first, at most 1,000. Only of OpenAPI documents is anything said to break.",
  request: { params: artifactParams, querystring: diffQuery },
  ok: { 200: { description: 'What changed.', schema: diffOut } },
  sends: revalidated,
  headers: ['Content-Location'],
  problems: ['artifact-not-found', 'no-published-version', 'diff-too-costly'],
});
