import type { FastifyReply, FastifyRequest } from 'fastify';
import { createLimiter, type Limiter, refuseOverLimit } from '#access/limit.ts';
import type { Partners } from '#partners/index.ts';
import { type AcceptedDelivery, isCorrelationId } from '#partners/intake/accept-delivery.ts';
import type { Partner } from '#partners/partner.ts';
import type { PartnerPath } from '#partners/receipts/receipt.ts';
import { receiptOut, toReceiptOut } from '#partners/receipts/receipt-out.ts';
import { toPublicUri, toSignedUri } from '#partners/intake/signature.ts';
import { isPartnerId, type RefusedRequest } from '#partners/intake/verify-request.ts';
import { isTrackportError } from '#shared/errors.ts';
import type { Area, HttpApp, HttpContext } from '../../http-app.ts';
import { acceptRawJson, rawBodyOf } from '../../requests/json-body.ts';
import type { RefusalLimiter } from '../../auth/refusal-limiter.ts';
import {
  createPartnerMetrics,
  type PartnerMetrics,
  type PartnerRegistry,
} from '../../telemetry/partner-metrics.ts';
import { JSON_MEDIA_TYPE } from '../../responses/rendered-response.ts';
import { rateLimitHeaders } from '../../responses/rate-limit-headers.ts';
import { routedPath } from '../../requests/routed-path.ts';
import { deliveryHeaders, deliveryIn, partnerParams } from './schema.ts';
import { describeRoute, headersOn } from '../../openapi/describe-route.ts';
import { unverifiedSignature } from '../../auth/unverified-signature.ts';
import { requireJson } from '../../requests/content-type.ts';
import { headerValues } from '../../requests/header-values.ts';
import { STATUS_PATH } from '../receipt-status/routes.ts';

export type PartnerRoutesDeps = {
  partners: Pick<Partners, 'refuseUnread' | 'verify' | 'accept' | 'statusTokenOf' | 'readStatus'>;
  /** Checks the bearer token for partners with `requireBearer`. @throws {unauthorized} */
  checkBearer: (request: FastifyRequest) => Promise<unknown>;
  metrics: PartnerRegistry;
};

const PREFIX = '/api/v1/webhooks/partners';
const PATHS = ['events', 'deletions'] as const;
const DELIVERY_PATH = new RegExp(`^${PREFIX}/[^/]*/(?:${PATHS.join('|')})$`);

/**
 * Events and deletions of partners. The checks run from cheap to dear, and a call that cannot be
 * verified gets one and the same 401 for every reason, so that nobody learns who is a partner.
 */
export function partnerRoutes(context: HttpContext, deps: PartnerRoutesDeps): Area {
  const services: Services = {
    context,
    deps,
    metrics: createPartnerMetrics(deps.metrics),
    limiter: createLimiter({ clock: context.clock, limitPerMinute: Infinity }),
  };
  return (app) => {
    acceptRawJson(app, context.readBody);
    app.addHook('onRequest', async (request, reply) => {
      echoCorrelationId(request, reply);
      if (!isPartnerId(partnerIdOf(request))) refuseRequest(services, request, { reason: 'shape' });
      requireJson(request);
    });
    app.addHook('preParsing', async (request) => refuseUnsigned(services, request));
    for (const path of PATHS) addDeliveryRoute(app, services, path);
  };
}

/**
 * A partner id that the framework itself refuses (bad escapes, overlong) is one of another shape:
 * `unauthorized` in place of `error`, which is kept for all other paths.
 */
export function asPartnerRefusal(
  refusals: RefusalLimiter,
  request: Pick<FastifyRequest, 'method' | 'raw' | 'ip'>,
  error: unknown,
): unknown {
  const path = routedPath(request.raw.url ?? '');
  if (request.method !== 'POST' || !DELIVERY_PATH.test(path)) return error;
  try {
    return refusals.rethrow(request.ip, unverifiedSignature());
  } catch (refusal) {
    return refusal;
  }
}

type Services = {
  context: HttpContext;
  deps: PartnerRoutesDeps;
  metrics: PartnerMetrics;
  /** One window per partner, of those that have a limit. */
  limiter: Limiter;
};

function addDeliveryRoute(app: HttpApp, services: Services, path: PartnerPath): void {
  const { metrics } = services;
  const { partners } = services.deps;
  app.post(`${PREFIX}/:partnerId/${path}`, deliveryRoutes[path], async (request, reply) => {
    const partner = await authenticate(services, request);
    request.logFacts = { partnerId: partner.id };
    limitRequests(services, partner, reply);
    const correlationId = correlationIdOf(request);
    const accepted = await partners.accept({
      partner,
      path,
      body: rawBodyOf(request),
      ...(correlationId !== undefined && { correlationId }),
    });
    if (path === 'deletions') metrics.ignored(partner.id, accepted.ignored);
    const token = partners.statusTokenOf(accepted.receipt);
    reply.header('location', `${services.context.publicUrl()}${STATUS_PATH}/${token}`);
    return answer(request, reply, accepted);
  });
}

/** What no body could mend. */
function refuseUnsigned(services: Services, request: FastifyRequest): void {
  const { rawHeaders } = request.raw;
  const refused = services.deps.partners.refuseUnread({
    partnerId: partnerIdOf(request),
    headerValues: (name) => headerValues(request, name),
    everyValue: rawHeaders.filter((_, index) => index % 2 === 1),
  });
  if (refused) refuseVerdict(services, request, refused);
}

/** Raw bytes, signature, timestamp, and the bearer token where one is needed. */
async function authenticate(services: Services, request: FastifyRequest): Promise<Partner> {
  const { context, deps } = services;
  const verdict = deps.partners.verify({
    partnerId: partnerIdOf(request),
    method: request.method,
    uri: addressOf(context, request),
    body: rawBodyOf(request),
    headerValues: (name) => headerValues(request, name),
  });
  if (verdict.kind === 'refused') return refuseVerdict(services, request, verdict);
  const { partner } = verdict;
  if (partner.requireBearer) await checkBearer(services, request, partner);
  return partner;
}

function refuseVerdict(
  services: Services,
  request: FastifyRequest,
  refused: RefusedRequest,
): never {
  const partner = 'partner' in refused ? refused.partner : undefined;
  // Most wrong signatures of this scheme are good ones of another address.
  const address = partner?.scheme === 'signature-v3' && {
    verifiedAddress: withoutQuery(addressOf(services.context, request)),
  };
  return refuseRequest(services, request, { partner, reason: refused.reason, ...address });
}

/** The address that the partner has called, as far as we know. */
function addressOf(context: HttpContext, request: FastifyRequest): string {
  return toPublicUri(context.publicUrl(), request.raw.url ?? '');
}

/** An address for the log: that there was a query is told, what stood in it is not. */
function withoutQuery(uri: string): string {
  const [address = '', query] = toSignedUri(uri).split('?', 2);
  return query === undefined ? address : `${address}?…`;
}

async function checkBearer(
  services: Services,
  request: FastifyRequest,
  partner: Partner,
): Promise<void> {
  try {
    await services.deps.checkBearer(request);
  } catch (error) {
    if (isTrackportError(error, 'unauthorized'))
      refuseRequest(services, request, { partner, reason: 'bearer' });
    throw error;
  }
}

/** Why a call is refused, for metric and log; without a partner it named none that is known. */
type Refusal = { reason: string; partner?: Partner | undefined; verifiedAddress?: string };

/** @throws {unauthorized} @throws {quota-exceeded} the address had too many calls refused */
function refuseRequest(
  { context, metrics }: Services,
  request: FastifyRequest,
  { partner, reason, verifiedAddress }: Refusal,
): never {
  metrics.refused(partner?.id ?? '', reason);
  request.logFacts = {
    ...request.logFacts,
    ...(partner && { partnerId: partner.id }),
    refusal: reason,
    ...(verifiedAddress !== undefined && { verifiedAddress }),
  };
  return context.refusals.rethrow(request.ip, unverifiedSignature());
}

function limitRequests(
  { limiter, metrics }: Services,
  partner: Partner,
  reply: FastifyReply,
): void {
  if (partner.limitPerMinute === undefined) return;
  const quota = limiter.take(partner.id, partner.limitPerMinute);
  reply.headers(rateLimitHeaders(quota));
  if (!quota.isExceeded) return;
  metrics.refused(partner.id, 'limit');
  refuseOverLimit(quota);
}

function answer(request: FastifyRequest, reply: FastifyReply, accepted: AcceptedDelivery) {
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
  return given !== undefined && more.length === 0 && isCorrelationId(given) ? given : undefined;
}

/** Decoded once, as everywhere: what `%2F` or `%00` make of it has no partner's shape. */
function partnerIdOf({ params }: FastifyRequest): string {
  return (params as { partnerId: string }).partnerId;
}

function describeDelivery(path: PartnerPath) {
  const what = path === 'events' ? 'an event' : 'a deletion';
  return describeRoute({
    tag: 'Partners',
    operationId: path === 'events' ? 'receivePartnerEvent' : 'receivePartnerDeletion',
    summary: `Take ${what} of a partner`,
    description:
      'Durable when it is answered. The same event again gets the original receipt and `Idempotent-Replayed: true`. Every call that cannot be verified gets the same 401.',
    security: ['PartnerSignature', 'VendorSignature'],
    request: { params: partnerParams, headers: deliveryHeaders },
    signedBody: deliveryIn,
    freeQuery: true,
    ok: { 202: { description: 'Accepted, or accepted before.', schema: receiptOut } },
    responseHeaders: {
      202: ['Location', 'X-Correlation-Id', 'Idempotent-Replayed', 'RateLimit-Policy', 'RateLimit'],
      ...headersOn([400, 401, 413, 415, 429, 503], ['X-Correlation-Id']),
    },
    problems: [
      'unauthorized',
      'validation-failed',
      'malformed-json',
      'payload-too-large',
      'unsupported-media-type',
      'quota-exceeded',
      'identity-provider-unavailable',
      'store-unavailable',
    ],
  });
}

const deliveryRoutes = {
  events: describeDelivery('events'),
  deletions: describeDelivery('deletions'),
};
