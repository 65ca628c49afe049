import type { Clock } from '#shared/clock.ts';
import { createPartner } from '../partner.ts';
import type { Partner, PartnerList } from '../partner.ts';
import { checkSignature, looksSigned, refusalOfHeaders } from './signature.ts';
import type { SignatureRefusal, SignedContent } from './signature.ts';

/** The one shape of a partner's name in a path. */
const PARTNER_ID = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** A request to a partner path, whoever sent it. */
export type PartnerRequest = Omit<SignedContent, 'timestamp'> & {
  /** From the path, its escapes decoded. */
  partnerId: string;
  /** Every value that the header has, in order. `name` in any case. */
  headerValues(name: string): readonly string[];
};

/** The same before its body is read. */
export type UnreadRequest = Pick<PartnerRequest, 'partnerId' | 'headerValues'> & {
  /** The values of all its headers. */
  everyValue: readonly string[];
};

/** The response must not depend on why a request is refused: that is for log and metrics. */
export type RequestVerdict =
  /** `digest`: the start of that of the secret that made the signature. */
  { kind: 'verified'; partner: Partner; digest: string } | RefusedRequest;

export type RefusedRequest =
  | { kind: 'refused'; reason: 'partner-unknown' }
  | { kind: 'refused'; reason: SignatureRefusal; partner: Partner };

export type VerifyRequestDeps = { partners: PartnerList; clock: Pick<Clock, 'now'> };

/** True when a segment of a path, its escapes decoded, can be a partner's name. */
export function isPartnerId(segment: string): boolean {
  return PARTNER_ID.test(segment);
}

/**
 * Which partner signed this request. An unknown or disabled partner costs as many HMACs over the same
 * bytes as a known one.
 */
export function verifyRequest(
  { partners, clock }: VerifyRequestDeps,
  request: PartnerRequest,
): RequestVerdict {
  const now = clock.now();
  const partner = partners.find(request.partnerId);
  const { scheme, headers } = partner ?? nobody;
  const signedRequest = {
    method: request.method,
    uri: request.uri,
    body: request.body,
    signatures: request.headerValues(headers.signature),
    timestamps: request.headerValues(headers.timestamp),
  };
  const keys = partners.keysToTry(partner, now);
  const verdict = checkSignature(scheme, keys, signedRequest, now);
  if (partner === undefined) return { kind: 'refused', reason: 'partner-unknown' };
  return 'refusal' in verdict
    ? { kind: 'refused', reason: verdict.refusal, partner }
    : { kind: 'verified', partner, digest: verdict.digest };
}

/**
 * Refuses a request that no body could make a good one, so that the body need not be read. Whether it
 * does depends on the headers and not on the partner: who holds the body back must not learn from
 * the early response who is a partner, and which scheme is whose.
 */
export function refuseUnread(
  { partners, clock }: VerifyRequestDeps,
  request: UnreadRequest,
): RefusedRequest | undefined {
  const now = clock.now();
  if (looksSigned(request.everyValue, now)) return undefined;
  const partner = partners.find(request.partnerId);
  if (partner === undefined) return { kind: 'refused', reason: 'partner-unknown' };
  const signatures = request.headerValues(partner.headers.signature);
  const timestamps = request.headerValues(partner.headers.timestamp);
  const reason = refusalOfHeaders(partner.scheme, { signatures, timestamps }, now);
  return { kind: 'refused', reason: reason ?? 'signature-malformed', partner };
}

/** Stands in for a partner that is not there; nobody knows a secret that is tried for it. */
const nobody = createPartner('nobody', { scheme: 'hmac-sha256', secrets: [] });
