import { z } from 'zod';
import { CHANGES_MAX, changeKinds, impacts } from '#catalog/diff/change.ts';
import type { VersionDiff } from '#catalog/diff/diff-versions.ts';
import { revalidated } from '#catalog/version/version-response.ts';
import { forCatalogReaders, readerOf } from '../../auth/catalog-access.ts';
import type { HttpApp } from '../../http-app.ts';
import { bearerProblems, describeRoute } from '../../openapi/describe-route.ts';
import type { CatalogRoutesDeps } from './caller.ts';
import { artifactParams, diffQuery } from './schema.ts';

/** What changed between two versions of an artifact. */
export function addDiffRead(app: HttpApp, { catalog }: CatalogRoutesDeps): void {
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
    truncated: z.literal(true).exactOptional().describe('There when there are more changes.'),
  })
  .meta({ id: 'ArtifactDiff', description: 'What changed from one version to another.' });

function toDiffOut({ truncated, ...diff }: VersionDiff): z.infer<typeof diffOut> {
  return { ...diff, ...(truncated && { truncated }) };
}

const diffRoute = forCatalogReaders(
  describeRoute({
    tag: 'Catalog',
    operationId: 'diffArtifactVersions',
    summary: 'Compare two versions of an artifact',
    description:
      "Scope `catalog:read`. The two specs and the artifact's own fields, breaking changes first, at most 1,000. Only of OpenAPI documents is anything said to break.",
    request: { params: artifactParams, querystring: diffQuery },
    ok: { 200: { description: 'What changed.', schema: diffOut } },
    responseHeaders: { 200: ['Cache-Control', 'Vary', 'Content-Location'] },
    problems: ['artifact-not-found', 'no-published-version', ...bearerProblems],
  }),
);
