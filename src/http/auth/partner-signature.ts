import type { FastifyRequest } from 'fastify';
import type { Limiter } from '#access/limit.ts';
import { missingToken } from '#access/tokens.ts';
import { toPublicUri, toSignedUri } from '#partners/intake/signing.ts';
import type { RefusedRequest } from '#partners/intake/signed-request.ts';
import type { Partner } from '#partners/partner.ts';
import { PARTNER_ID } from '#shared/ids.ts';
import type { PartnerRefusal } from '#shared/outcomes/refusals.ts';
import { isTrackportError, TrackportError } from '#shared/errors.ts';
import type { AreaContext } from '../context.ts';
import { authenticateBearer } from './bearer.ts';
import { rawBodyOf } from '../requests/body.ts';
import { headerValues } from '../requests/headers.ts';
import type { PartnerMetrics } from '../telemetry/partner-metrics.ts';

/**
 * The area of partners. Their credentials are checked from the cheapest check to the dearest: each refuses
 * with the same `unauthorized`, or `quota-exceeded` when the address had too many requests refused.
 */
export type PartnerArea = AreaContext & {
  partnerMetrics: PartnerMetrics;
  /** One window per partner, of those that have a limit. */
  limiter: Limiter;
};

/** The path names something that can be a partner. */
export function requirePartnerId(area: PartnerArea, request: FastifyRequest): void {
  if (!PARTNER_ID.test(partnerIdOf(request))) refuseRequest(area, request, { reason: 'shape' });
}

/** Refuses, before the body is read, what no body could mend. */
export function refuseUnread(area: PartnerArea, request: FastifyRequest): void {
  const { rawHeaders } = request.raw;
  const refused = area.partners.refusalOfUnread({
    partnerId: partnerIdOf(request),
    headerValues: (name) => headerValues(request, name),
    everyValue: rawHeaders.filter((_, index) => index % 2 === 1),
  });
  if (refused) refuseVerdict(area, request, refused);
}

/** One and the same 401 for every signed request that cannot be verified, whatever the reason. */
export function unverifiedSignature(): TrackportError {
  return new TrackportError('unauthorized', {
    detail: 'The signature of this call could not be verified.',
    challenge: 'Signature',
  });
}

/** Raw bytes, signature, timestamp, and the bearer token where one is needed. */
export async function authenticatePartner(
  area: PartnerArea,
  request: FastifyRequest,
): Promise<Partner> {
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
