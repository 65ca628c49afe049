import type { FastifyReply, FastifyRequest } from 'fastify';
import { createLimiter, refuseOverLimit } from '#access/limit.ts';
import type { AcceptedDelivery } from '#partners/intake/accept-delivery.ts';
import { isLoggableId } from '#shared/ids.ts';
import type { Partner } from '#partners/partner.ts';
import type { PartnerPath } from '#partners/receipts/receipt.ts';
import { receiptOut, toReceiptOut } from '#partners/receipts/receipt-out.ts';
import type { AreaContext, EarlyRequest, HttpApp } from '../../http-app.ts';
import { acceptRawJson, rawBodyOf } from '../../requests/json-body.ts';
import type { RefusalLimiter } from '../../auth/refusal-limiter.ts';
import { createPartnerMetrics } from '../../telemetry/partner-metrics.ts';
import { JSON_MEDIA_TYPE } from '../../responses/rendered-response.ts';
import { rateLimitHeaders } from '../../responses/headers.ts';
import { routedPath } from '../../requests/routed-path.ts';
import { deliveryHeaders, deliveryIn, partnerParams } from './schema.ts';
import { describeRoute } from '../../openapi/describe-route.ts';
import {
  authenticatePartner,
  type PartnerServices,
  refuseUnread,
  requirePartnerId,
  unverifiedSignature,
} from '../../auth/partner-signature.ts';
import { requireJson } from '../../requests/content-type.ts';
import { hangUpOf } from '../../requests/hang-up.ts';
import { headerValues } from '../../requests/header-values.ts';
import { STATUS_PATH } from '../receipt-status/routes.ts';

const PREFIX = '/api/v1/webhooks/partners';
const PATHS = ['events', 'deletions'] as const;
const DELIVERY_PATH = new RegExp(`^${PREFIX}/[^/]*/(?:${PATHS.join('|')})$`);

/**
 * Events and deletions of partners. The checks run from cheap to dear, and a request that cannot be
 * verified gets one and the same 401 for every reason, so that nobody learns who is a partner.
 */
export function partnerRoutes(app: HttpApp, context: AreaContext): void {
  const services: PartnerServices = {
    ...context,
    partnerMetrics: createPartnerMetrics(context.partnerRegistry),
    limiter: createLimiter({ clock: context.clock, limitPerMinute: Infinity }),
  };
  context.earlyErrors.add((request, error) => asRefusal(context.refusals, request, error));
  acceptRawJson(app, context.readBody);
  app.addHook('onRequest', async (request, reply) => {
    echoCorrelationId(request, reply);
    requirePartnerId(services, request);
    requireJson(request);
  });
  for (const path of PATHS) addDeliveryRoute(app, services, path);
}

/**
 * A partner id that the framework itself refuses (bad escapes, overlong) is one of another shape:
 * `unauthorized` in place of `error`, which stays for all other paths.
 */
function asRefusal(refusals: RefusalLimiter, request: EarlyRequest, error: unknown): unknown {
  const path = routedPath(request.raw.url ?? '');
  if (request.method !== 'POST' || !DELIVERY_PATH.test(path)) return error;
  try {
    return refusals.rethrow(request.ip, unverifiedSignature());
  } catch (refusal) {
    return refusal;
  }
}

function addDeliveryRoute(app: HttpApp, services: PartnerServices, path: PartnerPath): void {
  const { partnerMetrics, partners, publicUrl } = services;
  const preParsing = async (request: FastifyRequest): Promise<void> =>
    refuseUnread(services, request);
  const route = { ...deliveryRoutes[path], preParsing };
  app.post(`${PREFIX}/:partnerId/${path}`, route, async (request, reply) => {
    const partner = await authenticatePartner(services, request);
    request.logFacts = { partnerId: partner.id };
    limitRequests(services, partner, reply);
    const correlationId = correlationIdOf(request);
    const [messageId] = headerValues(request, partner.headers.id);
    const accepted = await partners.accept({
      partner,
      path,
      body: rawBodyOf(request),
      signal: hangUpOf(request),
      correlationId,
      messageId,
    });
    if (path === 'deletions') partnerMetrics.ignored(partner.id, accepted.ignored);
    const token = partners.statusTokenOf(accepted.receipt);
    reply.header('location', `${publicUrl()}${STATUS_PATH}/${token}`);
    return respond(request, reply, accepted);
  });
}

function limitRequests(
  { limiter, partnerMetrics, partners }: PartnerServices,
  partner: Partner,
  reply: FastifyReply,
): void {
  if (partner.limitPerMinute === undefined) return;
  const quota = limiter.take(partner.id, partner.limitPerMinute);
  reply.headers(rateLimitHeaders(quota));
  if (!quota.isExceeded) return;
  partnerMetrics.refused(partner.id, 'limit');
  partners.recordRefusal(partner, 'limit');
  refuseOverLimit(quota);
}

function respond(request: FastifyRequest, reply: FastifyReply, accepted: AcceptedDelivery) {
  const { receipt, kind } = accepted;
  request.logFacts = {
    partnerId: receipt.partnerId,
    receiptId: receipt.id,
    correlationId: receipt.correlationId,
  };
  if (kind === 'repeat') reply.header('idempotent-replayed', 'true');
  if (!reply.hasHeader('x-correlation-id')) reply.header('x-correlation-id', receipt.correlationId);
  return reply
    .code(202)
    .type(JSON_MEDIA_TYPE)
    .send(JSON.stringify(toReceiptOut(receipt)));
}

function echoCorrelationId(request: FastifyRequest, reply: FastifyReply): void {
  const given = correlationIdOf(request);
  if (given !== undefined) reply.header('x-correlation-id', given);
}

function correlationIdOf(request: FastifyRequest): string | undefined {
  const [given, ...more] = headerValues(request, 'x-correlation-id');
  return given !== undefined && more.length === 0 && isLoggableId(given) ? given : undefined;
}

function describeDelivery(path: PartnerPath) {
  const what = path === 'events' ? 'an event' : 'a deletion';
  return describeRoute({
    tag: 'Partners',
    operationId: path === 'events' ? 'receivePartnerEvent' : 'receivePartnerDeletion',
    summary: `Take ${what} of a partner`,
    description:
      'Durable when it is answered. The same event again gets the original receipt and `Idempotent-Replayed: true`. Every call that cannot be verified gets the same 401.',
    security: ['PartnerSignature', 'VendorSignature', 'WebhookSignature'],
    request: { params: partnerParams, headers: deliveryHeaders },
    signedBody: deliveryIn,
    freeQuery: true,
    ok: { 202: { description: 'Accepted, or accepted before.', schema: receiptOut } },
    headers: [
      'Location',
      'X-Correlation-Id',
      'Idempotent-Replayed',
      'RateLimit-Policy',
      'RateLimit',
    ],
    problemHeaders: { 'X-Correlation-Id': [400, 401, 413, 415, 429, 503] },
    problems: ['validation-failed', 'identity-provider-unavailable', 'store-unavailable'],
  });
}

const deliveryRoutes = {
  events: describeDelivery('events'),
  deletions: describeDelivery('deletions'),
};
