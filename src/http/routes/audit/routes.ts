import type { Access } from '#access/index.ts';
import { type AuthorizeBearer, forOperators, requireBearer } from '../../auth/bearer.ts';
import { uncached } from '../../responses/cache-headers.ts';
import { linkNext } from '../../responses/next-link.ts';
import type { Area, HttpContext } from '../../http-app.ts';
import { auditListOut, auditListQuery } from './schema.ts';
import { bearerProblems, describeRoute } from '../../openapi/describe-route.ts';

export type AuditRoutesDeps = { access: Pick<Access, 'listAudit'>; authorize: AuthorizeBearer };

/** The audit log, for operators. */
export function auditRoutes(context: HttpContext, { access, authorize }: AuditRoutesDeps): Area {
  return (app) => {
    requireBearer(app, authorize);
    app.get('/api/v1/audit', listRoute, async (request, reply) => {
      const { limit, cursor, ...filter } = request.query;
      const query = { filter, limit, ...(cursor !== undefined && { cursor }) };
      const { items, pagination } = await access.listAudit(query);
      linkNext(request, reply, { pagination, publicUrl: context.publicUrl() });
      return reply.headers(uncached).send({ items, pagination });
    });
  };
}

const listRoute = forOperators(
  describeRoute({
    tag: 'Operations',
    operationId: 'listAudit',
    summary: 'List who did what',
    description:
      'Newest first: every change of consumers, keys and artifacts, every release of a lead and every replay, in all workspaces.',
    security: 'Bearer',
    request: { querystring: auditListQuery },
    ok: { 200: { description: 'One page of the audit log.', schema: auditListOut } },
    responseHeaders: { 200: ['Cache-Control', 'Link'] },
    problems: ['invalid-cursor', ...bearerProblems],
  }),
);
