import { z } from 'zod';
import { auditEntryOut } from '#access/audit-log.ts';
import { auditActions } from '#shared/audit.ts';
import { paginationOut } from '#shared/pagination/page.ts';
import { requireBearer } from '../auth/bearer.ts';
import { uncached, linkNext } from '../responses/headers.ts';
import type { BearerContext, HttpApp } from '../context.ts';
import { describeRoute } from '../route.ts';
import { pageParameters, sinceParameter } from '../requests/parameters.ts';

/** Longer than any subject of ours: a workspace and an artifact's id among them. */
const TEXT_CHARACTERS_MAX = 512;

const exactly = (description: string) =>
  z
    .string('must be given once')
    .min(1, 'must not be empty')
    .max(TEXT_CHARACTERS_MAX, `must have at most ${TEXT_CHARACTERS_MAX} characters`)
    .optional()
    .describe(description);

const auditListQuery = z.strictObject({
  ...pageParameters,
  actor: exactly('Who did it: the subject of a token, or the user of the command line.'),
  action: z
    .enum(auditActions, `must be one of ${auditActions.join(', ')}`)
    .optional()
    .describe('What was done.'),
  subject: exactly(
    'What it was done to: `consumer/ID` (keys too), `claim/NUMBER`, `receipt/ID`, `receipts` or `artifact/WORKSPACE/ID`, the last with the id in lower case.',
  ),
  requestId: exactly('`X-Request-Id` of the call that did it.'),
  since: sinceParameter.optional().meta({ description: 'Done at or after this instant.' }),
});

const auditListOut = z
  .object({ items: z.array(auditEntryOut), pagination: paginationOut })
  .meta({ id: 'AuditList' });

/** The audit log, for operators. */
export function auditRoutes(app: HttpApp, context: BearerContext): void {
  requireBearer(app, context);
  app.get('/api/v1/audit', listRoute, async (request, reply) => {
    const { limit, cursor, ...filter } = request.query;
    const list = await context.access.listAudit({ filter, limit, cursor });
    linkNext(request, reply, { ...list, publicUrl: context.publicUrl() });
    return list;
  });
}

const listRoute = describeRoute({
  tag: 'Operations',
  operationId: 'listAudit',
  summary: 'List who did what',
  description:
    'Newest first: every change of consumers, keys and artifacts, every release of a lead and every replay, in all workspaces.',
  scope: 'trackport:admin',
  request: { querystring: auditListQuery },
  ok: { 200: { description: 'One page of the audit log.', schema: auditListOut } },
  sends: uncached,
  headers: ['Link'],
  problems: ['invalid-cursor'],
});
