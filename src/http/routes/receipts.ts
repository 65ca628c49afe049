import { z } from 'zod';
import {
  receiptDetailOut,
  receiptSummaryOut,
  replayedOut,
} from '#partners/receipts/receipt-out.ts';
import { paginationOut } from '#shared/pagination/page.ts';
import { parseLeadId } from '#leads/model/identity.ts';
import { PARTNER_ID_CHARACTERS_MAX } from '#shared/ids.ts';
import {
  outcomes,
  receiptStatuses,
  IDENTIFIER_CHARACTERS_MAX,
} from '#partners/receipts/receipt.ts';
import { originOf, requireBearer } from '../auth/bearer.ts';
import { uncached, linkNext } from '../responses/headers.ts';
import type { BearerContext, HttpApp } from '../context.ts';
import { describeRoute } from '../route.ts';
import { pageParameters, parsedBy, sinceParameter } from '../requests/parameters.ts';

/** As receipts store it. */
const identifier = z.string('must be given once').max(IDENTIFIER_CHARACTERS_MAX, 'is too long');

const filters = {
  partnerId: z
    .string('must be given once')
    .max(PARTNER_ID_CHARACTERS_MAX, 'is too long')
    .optional(),
  status: z.enum(receiptStatuses, `must be one of ${receiptStatuses.join(', ')}`).optional(),
  outcome: z
    .enum(outcomes, `must be one of ${outcomes.join(', ')}`)
    .optional()
    .meta({
      description:
        'At least one event of the receipt has it, and the ids of an event that are given beside it.',
    }),
  externalId: identifier.optional(),
  eventId: identifier.optional(),
  correlationId: identifier.optional().meta({ description: 'That of the receipt.' }),
  leadId: z
    .string('must be given once')
    .transform(parsedBy(parseLeadId, 'must be the number of an issue'))
    .optional()
    .meta({
      description: 'The number of an issue that an event has matched.',
      pattern: '^#?[1-9][0-9]{0,15}$',
    }),
  since: sinceParameter.optional().meta({ description: 'Received at or after this instant.' }),
};

/** Which receipts a replay is for. */
const receiptFilterQuery = z.strictObject(filters);

const receiptListQuery = z.strictObject({ ...pageParameters, ...filters });

const receiptParams = z.object({
  id: z.string().meta({ description: 'The receipt’s id.', format: 'uuid' }),
});

const receiptListOut = z
  .object({ items: z.array(receiptSummaryOut).readonly(), pagination: paginationOut })
  .meta({ id: 'ReceiptList' });

const PATH = '/api/v1/receipts';

/** Receipts of deliveries, for operators, and the replay of dead letters. */
export function receiptRoutes(app: HttpApp, context: BearerContext): void {
  const { receipts } = context.partners;
  requireBearer(app, context);
  app.get(PATH, listRoute, async (request, reply) => {
    const { limit, cursor, ...filter } = request.query;
    const list = await receipts.list({ filter, limit, cursor });
    linkNext(request, reply, { ...list, publicUrl: context.publicUrl() });
    return list;
  });
  app.get(`${PATH}/:id`, readRoute, (request) => receipts.read(request.params.id));
  app.post(`${PATH}/:id/replay`, replayRoute, async (request, reply) =>
    reply.code(202).send(await receipts.replay(request.params.id, originOf(request))),
  );
  app.post(`${PATH}/replay`, replayAllRoute, async (request, reply) =>
    reply.code(202).send(await receipts.replayAll(request.query, originOf(request))),
  );
}

const common = { tag: 'Partners', scope: 'trackport:admin' } as const;

const listRoute = describeRoute({
  ...common,
  operationId: 'listReceipts',
  summary: 'List receipts',
  description: 'Newest first.',
  request: { querystring: receiptListQuery },
  ok: { 200: { description: 'One page of receipts.', schema: receiptListOut } },
  sends: uncached,
  headers: ['Link'],
  problems: ['invalid-cursor'],
});

const readRoute = describeRoute({
  ...common,
  operationId: 'readReceipt',
  summary: 'Read one receipt with its events',
  description: 'What became of each event, and of which leads.',
  request: { params: receiptParams },
  ok: { 200: { description: 'The receipt.', schema: receiptDetailOut } },
  sends: uncached,
  problems: ['not-found'],
});

const replayRoute = describeRoute({
  ...common,
  operationId: 'replayReceipt',
  summary: 'Have a receipt’s dead letters worked again',
  description:
    'Its events that ended `FAILED` or `UNMATCHED` wait for the worker again, as long as their payloads are kept (30 days). The others are counted in `notQueued`, by reason.',
  request: { params: receiptParams },
  ok: { 202: { description: 'What can be replayed waits.', schema: replayedOut } },
  problems: ['not-found'],
});

const replayAllRoute = describeRoute({
  ...common,
  operationId: 'replayReceipts',
  summary: 'Have the dead letters of many receipts worked again',
  description: 'Of all receipts that match the filters; without a filter, of all receipts.',
  request: { querystring: receiptFilterQuery },
  ok: { 202: { description: 'What can be replayed waits.', schema: replayedOut } },
  problems: [],
});
