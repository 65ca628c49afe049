import { z } from 'zod';
import { changeKinds, CHANGES_MAX, impacts } from '#catalog/diff/changes.ts';
import { diffVersions, type VersionDiff } from '#catalog/diff/diff-versions.ts';
import { forCatalogReaders, readerOf } from '../../auth/catalog-access.ts';
import type { BearerContext, HttpApp } from '../../context.ts';
import { describeRoute } from '../../route.ts';
import { artifactParams, revalidated, version } from './version.ts';

/** The comparison of two versions of an artifact. */
export function addCatalogDiff(app: HttpApp, { catalog }: BearerContext): void {
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

const diffQuery = z.strictObject({
  from: version
    .optional()
    .describe('By default the highest PUBLISHED or DEPRECATED version below `to`.'),
  to: version.optional().describe('By default the version that a read returns.'),
});

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
