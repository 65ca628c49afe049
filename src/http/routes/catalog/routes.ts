import { z } from 'zod';
import { changeKinds, CHANGES_MAX, impacts } from '#catalog/diff/changes.ts';
import type { VersionDiff } from '#catalog/diff/diff-versions.ts';
import { revalidated } from '#catalog/version/version-response.ts';
import type { BearerContext, HttpApp } from '../../context.ts';
import { forCatalogReaders, readerOf, requireCatalogAccess } from '../../auth/catalog-access.ts';
import { addCatalogLifecycle } from './lifecycle.ts';
import { addCatalogReads } from './reads.ts';
import { acceptSpecJson, addCatalogWrites } from './writes.ts';
import { describeRoute } from '../../openapi/describe-route.ts';
import { artifactParams, diffQuery } from './schema.ts';

/** Artifacts and their versions, for tokens with a scope of the catalog; their reads for keys, too. */
export function catalogRoutes(app: HttpApp, context: BearerContext): void {
  requireCatalogAccess(app, context);
  acceptSpecJson(app, context);
  addCatalogReads(app, context);
  addDiffRead(app, context);
  addCatalogWrites(app, context);
  addCatalogLifecycle(app, context);
}

/** What changed between two versions of an artifact. */
function addDiffRead(app: HttpApp, { catalog }: BearerContext): void {
  app.get('/api/v1/catalog/:id/diff', diffRoute, async (request, reply) => {
    const { id } = request.params;
    const diff = await catalog.diff(readerOf(request), { id, ...request.query });
    reply.headers({ ...revalidated, 'content-location': addressOf(id, diff) });
    return toDiffOut(diff);
  });
}

/** Where exactly this comparison is, whatever the defaults are later. */
function addressOf(id: string, { from, to }: VersionDiff): string {
  const query = new URLSearchParams({ from, to }).toString();
  return `/api/v1/catalog/${encodeURIComponent(id)}/diff?${query}`;
}

const changeOut = z
  .object({
    path: z.string().describe('A JSON Pointer: `/owner`, `/spec/paths/~1leads/get`.'),
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

function toDiffOut({ truncated, ...diff }: VersionDiff): z.infer<typeof diffOut> {
  return { ...diff, ...(truncated && { truncated }) };
}

const diffRoute = describeRoute({
  ...forCatalogReaders,
  operationId: 'diffArtifactVersions',
  summary: 'Compare two versions of an artifact',
  description:
    "Scope `catalog:read`. The two specs and the artifact's own fields, breaking changes first, at most 1,000. Only of OpenAPI documents is anything said to break.",
  request: { params: artifactParams, querystring: diffQuery },
  ok: { 200: { description: 'What changed.', schema: diffOut } },
  headers: ['Cache-Control', 'Vary', 'Content-Location'],
  problems: ['artifact-not-found', 'no-published-version'],
});
