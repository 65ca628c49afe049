import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { readUsage, type Usage } from '#catalog/usage/read-usage.ts';
import type { Catalog } from '#catalog/index.ts';
import { artifactUsageOut } from '#catalog/version/version-out.ts';
import { toRfc3339 } from '#shared/clock.ts';
import { forCatalogReaders, readByOf, readerOf } from '../../auth/catalog-access.ts';
import type { BearerContext, HttpApp } from '../../context.ts';
import { describeRoute } from '../../route.ts';
import { artifactParams, versionQuery } from './schema.ts';
import { revalidated } from './version-response.ts';

/** Puts a read of a version into the record. HEAD only asks about it. */
export function countRead({ usage }: Catalog, request: FastifyRequest, serial: number): void {
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
