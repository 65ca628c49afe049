import { z } from 'zod';
import { removalListOut } from '#leads/reading/list-removals.ts';
import type { AreaContext, HttpApp } from '../../http-app.ts';
import { requireLeadGrant, visibilityOf } from '../../auth/lead-access.ts';
import { revalidatedFor } from '../../responses/headers.ts';
import { nextLink } from '../../responses/next-link.ts';
import { createRenderer } from '../../responses/rendered-response.ts';
import { sendRendered } from '../../responses/send-rendered.ts';
import { describeRoute, keyHeaders } from '../../openapi/describe-route.ts';
import { pageParameters, sinceParameter } from '../../requests/parameters.ts';

/** What an incremental reader of leads would never see: the leads that deletions took away. */
export function removalRoutes(app: HttpApp, context: AreaContext): void {
  const { claimedLeads, publicUrl } = context;
  const render = createRenderer(removalListOut);
  const headers = Object.entries(revalidatedFor('X-API-KEY')).flat();
  requireLeadGrant(app, context);
  app.get('/api/v1/leads/removals', removalsRoute, async (request, reply) => {
    const list = await claimedLeads.listRemovals(request.query, visibilityOf(request));
    const { nextCursor } = list.pagination;
    const link =
      nextCursor === undefined ? [] : ['link', nextLink(request, nextCursor, publicUrl())];
    return sendRendered({ request, reply }, render(list), [...headers, ...link]);
  });
}

const removalListQuery = z.strictObject({
  ...pageParameters,
  since: sinceParameter.optional().meta({
    description:
      'Only leads taken away at or after this instant. An RFC 3339 date-time with a zone, or a date in UTC.',
  }),
});

const removalsRoute = describeRoute({
  tag: 'Leads',
  operationId: 'listRemovals',
  summary: 'List leads that deletions took away',
  description:
    'Oldest first, for 30 days. Only leads that a grant like that of this key could ever read: each was approved at some time, and carried each label of the grant at some time while it was. One that was given back is not among them. It asks no tracker: read it also while `GET /api/v1/leads` is 503.',
  security: 'ApiKey',
  request: { querystring: removalListQuery },
  ok: { 200: { description: 'One page of removals.', schema: removalListOut } },
  notModified: true,
  headers: ['ETag', 'Cache-Control', 'Vary', ...keyHeaders, 'Link'],
  problems: ['invalid-cursor', 'insufficient-scope'],
});
