import { type Clock, SECOND } from '#shared/clock.ts';
import { activeSecrets, createPartner, type Partner, type PartnerList } from '../partner.ts';
import {
  checkSignature,
  looksSigned,
  refusalOfHeaders,
  type SignatureRefusal,
  signingKey,
} from './signature.ts';
import type { SignedContent } from './signing.ts';

/** A request to a partner path, whoever sent it. */
export type PartnerRequest = Omit<SignedContent, 'timestamp' | 'id'> & {
  /** From the path, its escapes decoded. */
  partnerId: string;
  /** Every value that the header has, in order. `name` in any case. */
  headerValues: (name: string) => readonly string[];
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

/**
 * Finds the partner that signed this request. To refuse one costs as much for an unknown or disabled partner
 * as for a known one: as many HMACs over the same bytes, of each kind that any partner uses.
 */
export function verifyRequest(
  { partners, clock }: { partners: PartnerList; clock: Pick<Clock, 'now'> },
  request: PartnerRequest,
): RequestVerdict {
  const now = clock.now();
  const partner = partners.find(request.partnerId);
  const { signing, ...sender } = partner ?? nobody;
  const { method, uri, body } = request;
  const signedRequest = { method, uri, body, ...headersOf(sender, request) };
  const verdict = checkSignature(signing, partners.keysToTry(partner, now), signedRequest, now);
  if (partner === undefined || 'refusal' in verdict)
    for (const other of partners.kinds.filter(({ kind }) => kind !== signing.kind))
      checkSignature(other, partners.keysToTry(undefined, now), signedRequest, now);
  if (partner === undefined) return { kind: 'refused', reason: 'partner-unknown' };
  return 'refusal' in verdict
    ? { kind: 'refused', reason: verdict.refusal, partner }
    : { kind: 'verified', partner, digest: verdict.digest };
}

function headersOf(
  { headers }: Pick<Partner, 'headers'>,
  { headerValues }: UnreadRequest | PartnerRequest,
) {
  return {
    signatures: headerValues(headers.signature),
    timestamps: headerValues(headers.timestamp),
    ids: headerValues(headers.id),
  };
}

/**
 * Refuses a request that no body could make a good one, so that the body need not be read. Whether it
 * does depends on the headers and not on the partner: who holds the body back must not learn from
 * the early response who is a partner, and which scheme is whose.
 */
export function refuseUnread(
  { partners, clock }: { partners: PartnerList; clock: Pick<Clock, 'now'> },
  request: UnreadRequest,
): RefusedRequest | undefined {
  const now = clock.now();
  if (looksSigned(partners.signings, request.everyValue, now)) return undefined;
  const partner = partners.find(request.partnerId);
  if (partner === undefined) return { kind: 'refused', reason: 'partner-unknown' };
  const reason = refusalOfHeaders(partner.signing, headersOf(partner, request), now);
  return { kind: 'refused', reason: reason ?? 'signature-malformed', partner };
}

/** Stands in for a partner that is not there; nobody knows a secret that is tried for it. */
const nobody = createPartner('nobody', { scheme: 'hmac-sha256', secrets: [] });

/** A request of a partner, before it is signed: the method is always `POST`. `id`: the message's, where the scheme has one. */
export type RequestToSign = { uri: string; body: Buffer; id: string };

/**
 * The headers with which `partner` would sign this request now; undefined when none of its secrets is
 * active. @throws {TypeError} the secret is none for the scheme
 */
export function signRequest(
  partner: Partner,
  { uri, body, id }: RequestToSign,
  now: number,
): Record<string, string> | undefined {
  const [secret] = activeSecrets(partner, now);
  if (secret === undefined) return undefined;
  const { signing, headers } = partner;
  const timestamp = String(signing.time?.unit === 's' ? Math.floor(now / SECOND) : now);
  const content = { method: 'POST', uri, body, timestamp, id };
  const signature = signing.sign(signingKey(secret, signing), content);
  return {
    'Content-Type': 'application/json',
    ...(signing.coversId && { [headers.id]: id }),
    [headers.signature]: signing.write(signature, timestamp),
    ...(headers.timestamp !== '' && { [headers.timestamp]: timestamp }),
  };
}
