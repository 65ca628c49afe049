import { claimListOut, claimOut, listClaims, readClaim } from '#leads/claims/claimed-leads.ts';
import { releaseClaim } from '#partners/receipts/release-claim.ts';
import { originOf, requireBearer } from '../auth/bearer.ts';
import { uncached, linkNext } from '../responses/headers.ts';
import type { BearerContext, HttpApp } from '../context.ts';
import { describeRoute } from '../route.ts';
import { leadParams, pageQuery } from '../requests/parameters.ts';

const PATH = '/api/v1/claims';

/** The leads that deletions have claimed, for operators, and giving one back. */
export function claimRoutes(app: HttpApp, context: BearerContext): void {
  const { claimedLeads, publicUrl } = context;
  requireBearer(app, context);
  app.get(PATH, listRoute, async (request, reply) => {
    const list = await listClaims(claimedLeads, request.query);
    linkNext(request, reply, { ...list, publicUrl: publicUrl() });
    return list;
  });
  app.get(`${PATH}/:leadId`, readRoute, (request) =>
    readClaim(claimedLeads, request.params.leadId),
  );
  app.delete(`${PATH}/:leadId`, releaseRoute, async (request, reply) => {
    await releaseClaim(claimedLeads, request.params.leadId, originOf(request));
    return reply.code(204).send();
  });
}

const common = { tag: 'Operations', scope: 'trackport:admin' } as const;

const listRoute = describeRoute({
  ...common,
  operationId: 'listClaims',
  summary: 'List the leads that deletions have claimed',
  description: 'The newest claim first, each lead once. Released ones are not among them.',
  request: { querystring: pageQuery },
  ok: { 200: { description: 'One page of claimed leads.', schema: claimListOut } },
  sends: uncached,
  headers: ['Link'],
  problems: ['invalid-cursor'],
});

const readRoute = describeRoute({
  ...common,
  operationId: 'readClaim',
  summary: 'Read the claim on one lead',
  description: 'Which receipts hide it, and since when. 404 when nothing does.',
  request: { params: leadParams },
  ok: { 200: { description: 'The lead is claimed.', schema: claimOut } },
  sends: uncached,
  problems: ['not-found'],
});

const releaseRoute = describeRoute({
  ...common,
  operationId: 'releaseClaim',
  summary: 'Give a lead back to readers after a wrong match',
  description:
    'All claims on it end; its issue stays as it is, so that readers see it again once it is approved there and does not carry the deleted label. The events that had claimed it leave it alone from then on; a new deletion claims it anew. A repeat is 404, because nothing is claimed any more.',
  request: { params: leadParams },
  ok: { 204: { description: 'It is released.' } },
  problems: ['not-found'],
});
