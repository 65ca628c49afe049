import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { createLimiter, type Limiter, overLimit } from '#access/limit.ts';
import type { Acceptance } from '#partners/intake/accept-delivery.ts';
import { isLoggableId, PARTNER_ID } from '#shared/ids.ts';
import type { Partner } from '#partners/partner.ts';
import { type PartnerPath, partnerPaths } from '#partners/receipts/receipt.ts';
import { receiptOut, toReceiptOut } from '#partners/receipts/receipt-out.ts';
import { missingToken } from '#access/tokens.ts';
import { toPublicUri, toSignedUri } from '#partners/intake/signing.ts';
import type { RefusedRequest } from '#partners/intake/signed-request.ts';
import type { PartnerRefusal } from '#shared/outcomes/callers.ts';
import { isTrackportError, TrackportError } from '#shared/errors.ts';
import { type AreaContext, type EarlyRequest, hangUpOf, type HttpApp } from '../context.ts';
import { acceptRawJson, rawBodyOf } from '../requests/body.ts';
import type { CountRefusal } from '../limits.ts';
import { createPartnerMetrics, type PartnerMetrics } from '../telemetry/partner-metrics.ts';
import { JSON_MEDIA_TYPE, rateLimitHeaders } from '../responses/headers.ts';
import { routedPath } from '../requests/paths.ts';
import { describeRoute } from '../route.ts';
import { ANY_JSON_TYPE, headerValues, requireJson } from '../requests/headers.ts';
import { STATUS_PATH } from './receipt-status.ts';
import { authenticateBearer } from '../auth/bearer.ts';

const PREFIX = '/api/v1/webhooks/partners';
/** The address that a partner sends to. */
export const deliveryPath = (partnerId: string, path: PartnerPath) =>
  `${PREFIX}/${partnerId}/${path}` as const;

const DELIVERY_PATH = new RegExp(`^${PREFIX}/[^/]*/(?:${partnerPaths.join('|')})$`);

type PartnerArea = AreaContext & {
  partnerMetrics: PartnerMetrics;
  /** One window per partner, of those that have a limit. */
  limiter: Limiter;
};

/**
 * Events and deletions of partners. The checks run from cheap to dear, and a request that cannot be
 * verified gets one and the same 401 for every reason, so that nobody learns who is a partner.
 */
export function partnerRoutes(app: HttpApp, context: AreaContext): void {
  const area: PartnerArea = {
    ...context,
    partnerMetrics: createPartnerMetrics(context.partnerRegistry),
    limiter: createLimiter(context.clock),
  };
  context.earlyErrors.add((request, error) => asRefusal(context.countRefusal, request, error));
  acceptRawJson(app, context.readBody, ANY_JSON_TYPE);
  app.addHook('onRequest', async (request, reply) => {
    echoCorrelationId(request, reply);
    requirePartnerId(area, request);
    requireJson(request, ANY_JSON_TYPE);
  });
  for (const path of partnerPaths) addDeliveryRoute(app, area, path);
}

/**
 * A partner id that the framework itself refuses (bad escapes, overlong) is one of another shape:
 * `unauthorized` in place of `error`, which stays for all other paths.
 */
function asRefusal(countRefusal: CountRefusal, request: EarlyRequest, error: unknown): unknown {
  const path = routedPath(request.raw.url ?? '');
  if (request.method !== 'POST' || !DELIVERY_PATH.test(path)) return error;
  return countRefusal(request.ip, unverifiedSignature());
}

function addDeliveryRoute(app: HttpApp, area: PartnerArea, path: PartnerPath): void {
  const { partnerMetrics, partners, publicUrl } = area;
  const preParsing = async (request: FastifyRequest): Promise<void> => refuseUnread(area, request);
  const route = { ...deliveryRoutes[path], preParsing };
  app.post(deliveryPath(':partnerId', path), route, async (request, reply) => {
    const partner = await authenticatePartner(area, request);
    request.logFacts = { partnerId: partner.id };
    limitRequests(area, partner, reply);
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
    if (path === 'deletions') partnerMetrics.ignored(partner.id, countIgnored(accepted));
    const token = partners.statusTokenOf(accepted.receipt);
    reply.header('location', `${publicUrl()}${STATUS_PATH}/${token}`);
    return respond(request, reply, accepted);
  });
}

/** Repeats were counted when they came first. */
function countIgnored({ written }: Acceptance): number {
  return written.filter(({ outcome }) => outcome === 'IGNORED').length;
}

function limitRequests(
  { limiter, partnerMetrics, partners }: PartnerArea,
  partner: Partner,
  reply: FastifyReply,
): void {
  if (partner.limitPerMinute === undefined) return;
  const quota = limiter.take(partner.id, partner.limitPerMinute);
  reply.headers(rateLimitHeaders(quota));
  if (!quota.isExceeded) return;
  partnerMetrics.refused(partner.id, 'limit');
  partners.recordRefusal(partner, 'limit');
  throw overLimit(quota);
}

function respond(request: FastifyRequest, reply: FastifyReply, accepted: Acceptance) {
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
  const correlationId = correlationIdOf(request);
  if (correlationId !== undefined) reply.header('x-correlation-id', correlationId);
}

function correlationIdOf(request: FastifyRequest): string | undefined {
  const [id, ...more] = headerValues(request, 'x-correlation-id');
  return id !== undefined && more.length === 0 && isLoggableId(id) ? id : undefined;
}

/** The path names something that can be a partner. */
function requirePartnerId(area: PartnerArea, request: FastifyRequest): void {
  if (!PARTNER_ID.test(partnerIdOf(request))) refuseRequest(area, request, { reason: 'shape' });
}

/** Refuses, before the body is read, what no body could mend. */
function refuseUnread(area: PartnerArea, request: FastifyRequest): void {
  const { rawHeaders } = request.raw;
  const refused = area.partners.refusalOfUnread({
    partnerId: partnerIdOf(request),
    headerValues: (name) => headerValues(request, name),
    everyValue: rawHeaders.filter((_, index) => index % 2 === 1),
  });
  if (refused) refuseVerdict(area, request, refused);
}

/** One and the same 401 for every signed request that cannot be verified, whatever the reason. */
function unverifiedSignature(): TrackportError {
  return new TrackportError('unauthorized', {
    detail: 'The signature of this call could not be verified.',
    challenge: 'Signature',
  });
}

/** Raw bytes, signature, timestamp, and the bearer token where one is needed. */
async function authenticatePartner(area: PartnerArea, request: FastifyRequest): Promise<Partner> {
  const verdict = area.partners.verify({
    partnerId: partnerIdOf(request),
    method: request.method,
    uri: addressOf(area, request),
    body: rawBodyOf(request),
    headerValues: (name) => headerValues(request, name),
  });
  if (verdict.kind === 'refused') return refuseVerdict(area, request, verdict);
  const { partner } = verdict;
  if (partner.requireBearer) await checkBearer(area, request, partner);
  return partner;
}

async function checkBearer(
  area: PartnerArea,
  request: FastifyRequest,
  partner: Partner,
): Promise<void> {
  try {
    // The configuration refuses `requireBearer` without an issuer, so this is never a way in.
    if (!area.bearer) throw missingToken();
    await authenticateBearer(area.bearer.verifier, request);
  } catch (error) {
    if (isTrackportError(error, 'unauthorized'))
      refuseRequest(area, request, { partner, reason: 'bearer' });
    throw error;
  }
}

function refuseVerdict(area: PartnerArea, request: FastifyRequest, refused: RefusedRequest): never {
  if (!('partner' in refused)) return refuseRequest(area, request, refused);
  const { partner, reason } = refused;
  // Most wrong signatures that cover the address are good ones of another.
  const address = partner.signing.coversUrl && {
    verifiedAddress: withoutQuery(addressOf(area, request)),
  };
  return refuseRequest(area, request, { partner, reason, ...address });
}

/** For metric and log; without a partner it named none that is known. */
type Refusal = { verifiedAddress?: string } & (
  | { reason: 'shape' | 'partner-unknown'; partner?: undefined }
  | { reason: PartnerRefusal; partner: Partner }
);

/** @throws {unauthorized} @throws {quota-exceeded} the address had too many requests refused */
function refuseRequest(
  { countRefusal, partnerMetrics, partners }: PartnerArea,
  request: FastifyRequest,
  { partner, reason, verifiedAddress }: Refusal,
): never {
  partnerMetrics.refused(partner?.id ?? '', reason);
  if (partner) partners.recordRefusal(partner, reason);
  request.logFacts = {
    ...request.logFacts,
    partnerId: partner?.id,
    refusal: reason,
    verifiedAddress,
  };
  throw countRefusal(request.ip, unverifiedSignature());
}

/** The address that the partner has used, as far as we know. */
function addressOf({ publicUrl }: PartnerArea, request: FastifyRequest): string {
  return toPublicUri(publicUrl(), request.raw.url ?? '');
}

/** An address for the log: it shows that there was a query, but not what stood in it. */
function withoutQuery(uri: string): string {
  const [address = '', query] = toSignedUri(uri).split('?', 2);
  return query === undefined ? address : `${address}?…`;
}

/** Decoded once, as everywhere: what `%2F` or `%00` make of it has no partner's shape. */
function partnerIdOf({ params }: FastifyRequest): string {
  return (params as { partnerId: string }).partnerId;
}

/**
 * A partner's body: free-form, since each partner's fields are found by pointers. Only for
 * openapi.json; the bytes are read after their signature was checked.
 */
const deliveryIn = z.union([z.looseObject({}), z.array(z.looseObject({})).max(500)]).meta({
  id: 'Delivery',
  description: 'One event, or a batch of up to 500. Signed as raw bytes.',
  examples: [
    { eventType: 'lead.deletion', eventId: 'evt-81', externalId: 'crm-1-000123' },
    [{ subscriptionType: 'contact.deletion', eventId: 3816279340, objectId: 1246965 }],
  ],
});

/** Parameters of both partner paths. An id of another shape is refused like a wrong signature. */
const partnerParams = z.object({
  partnerId: z
    .string()
    .meta({ description: 'As in the configuration.', pattern: PARTNER_ID.source }),
});

/** The patterns are for openapi.json alone: what has another shape is refused like a wrong signature. */
const described = (description: string, pattern: string) =>
  z.string().optional().meta({ description, pattern });

/** Headers that a delivery may carry. Which of them count is set for each partner; `hmac` names its own. */
const deliveryHeaders = z.object({
  'X-Partner-Signature': described(
    'Scheme `hmac-sha256`: `sha256=` and the hex HMAC-SHA256 of the raw body.',
    '^sha256=[0-9A-Fa-f]{64}$',
  ),
  'X-Vendor-Signature-v3': described(
    'Scheme `signature-v3`: base64 HMAC-SHA256 of method, URI, body and timestamp.',
    '^[A-Za-z0-9+/]{43}=$',
  ),
  'X-Vendor-Request-Timestamp': described(
    'Scheme `signature-v3`: milliseconds since the Unix epoch, at most 5 minutes off.',
    '^[1-9][0-9]{12}$',
  ),
  'Webhook-Id': described(
    'Scheme `standard-webhooks`: of the message.',
    '^[0-9A-Za-z_.:+/=-]{1,255}$',
  ),
  'Webhook-Timestamp': described(
    'Scheme `standard-webhooks`: seconds since the Unix epoch, at most 5 minutes off.',
    '^[1-9][0-9]{9}$',
  ),
  'Webhook-Signature': described(
    'Scheme `standard-webhooks`: `v1,` and the base64 HMAC-SHA256 of id, timestamp and body, joined by dots; several are separated by blanks.',
    'v1,[A-Za-z0-9+/]{43}=',
  ),
  'X-Correlation-Id': described('Echoed; one of another shape is ignored.', '^[!-?A-~]{1,128}$'),
});

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
