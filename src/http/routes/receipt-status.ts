import { z } from 'zod';
import { receiptStatusOut } from '#partners/receipts/status.ts';
import type { AreaContext, HttpApp } from '../context.ts';
import { REVALIDATED } from '../responses/headers.ts';
import { createRenderer, sendRendered } from '../responses/rendered-response.ts';
import { describeRoute } from '../openapi/describe-route.ts';

/** Where status addresses are. */
export const STATUS_PATH = '/api/v1/receipt-status';

/** What became of a delivery, for whoever has its status address. */
export function receiptStatusRoutes(app: HttpApp, { partners }: AreaContext): void {
  const render = createRenderer(receiptStatusOut);
  app.get(`${STATUS_PATH}/:token`, statusRoute, async (request, reply) => {
    const { status, retryAfterSeconds } = await partners.readStatus(request.params.token);
    if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
    return sendRendered({ request, reply }, render(status), { 'cache-control': REVALIDATED });
  });
}

const statusParams = z.object({
  // Described, not checked: whatever is no token gets one and the same 404.
  token: z.string().meta({
    description: 'As in the `Location` of the answer to a delivery.',
    maxLength: 256,
  }),
});

const statusRoute = describeRoute({
  tag: 'Partners',
  operationId: 'readReceiptStatus',
  summary: 'Tell what became of a delivery',
  description:
    'The status address of a delivery: the `Location` of its 202. It cannot be guessed, needs no credential, and lasts for 30 days; then, or altered, it is 404. It tells no personal data and no issue numbers. `Retry-After` is there while work is under way.',
  request: { params: statusParams },
  ok: { 200: { description: 'What became of it so far.', schema: receiptStatusOut } },
  notModified: true,
  headers: ['ETag', 'Cache-Control', 'Retry-After'],
  problems: ['validation-failed', 'not-found', 'store-unavailable'],
});
