import type { SecretStatus } from '#shared/crypto/secret.ts';
import { type Clock, SECOND } from '#shared/clock.ts';
import { sameDigest } from '#shared/crypto/hash.ts';
import type { PartnerRefusal } from '#shared/outcomes/callers.ts';
import { activeSecrets, createPartner, type Partner, type PartnerList } from '../partner.ts';
import {
  type SignedContent,
  type SignedTime,
  type Signing,
  signingKey,
  type TriedKey,
} from './signing.ts';

/** A request to a partner path, whoever sent it. */
export type PartnerRequest = Omit<SignedContent, 'timestamp' | 'id'> & {
  /** From the path, its escapes decoded. */
  partnerId: string;
  /** Every value that the header has, in order. `name` in any case. */
  headerValues: (name: string) => readonly string[];
};

/** A request before its body is read. */
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
 * Refusal of a request that no body could make a good one, so that the body need not be read. Whether
 * there is one depends on the headers and not on the partner: who holds the body back must not learn from
 * the early response who is a partner, and which scheme is whose.
 */
export function refusalOfUnread(
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

/** A request as it came: every value of the headers, in order. */
export type SignedRequest = Omit<SignedContent, 'timestamp' | 'id'> & {
  signatures: readonly string[];
  timestamps: readonly string[];
  ids?: readonly string[];
};

/** The part of it that stands in the headers. */
type SignedHeaders = Pick<SignedRequest, 'signatures' | 'timestamps' | 'ids'>;

/** For log and metrics only, never for the response. */
type SignatureRefusal = Exclude<PartnerRefusal, 'bearer' | 'limit'>;

/** As many digits as times of this age have. */
const DIGITS = { s: /^[1-9]\d{9}$/, ms: /^[1-9]\d{12}$/ } as const;
const TIME_IN_WORDS = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/;

/** Nothing that a body of JSON begins with: none of it can be taken for a part of the id. */
const MESSAGE_ID = /^[\w.:+/=-]{1,255}$/;

/** Verdict on a signature: `digest` is that of the secret that made it. */
export type SignatureVerdict = { digest: string } | { refusal: SignatureRefusal };

/**
 * Verified when a secret that is active made a signature and the request is not too old or too far
 * ahead, else refused with the reason. Every key is tried in full, whatever the headers look like, so that
 * the time it takes tells nothing.
 */
export function checkSignature(
  signing: Signing,
  keys: readonly TriedKey[],
  request: SignedRequest,
  now: number,
): SignatureVerdict {
  const { signatures, timestamps } = readHeaders(signing, request);
  const content = { ...request, timestamp: timestamps[0] ?? '', id: request.ids?.[0] ?? '' };
  const received = signatures.map((signature) => Buffer.from(signature));
  const matches: Record<SecretStatus, number> = { active: 0, expired: 0, 'not-yet-active': 0 };
  let digest = '';
  for (const tried of keys) {
    const expected = Buffer.from(signing.sign(tried.key, content));
    const found = received.filter((signature) => sameDigest(signature, expected));
    if (found.length === 0) continue;
    matches[tried.status] += 1;
    if (tried.status === 'active') digest = tried.digest;
  }
  const refusal = refusalOfForm(signing, request) ?? refusalOfMatch();
  return refusal === undefined ? { digest } : { refusal };

  function refusalOfMatch(): SignatureRefusal | undefined {
    if (matches.active === 0) return refusalOfSecret(matches);
    return refusalOfTimestamp(signing.time, timestamps, now);
  }
}

/**
 * Refusal for the headers alone: undefined when there is a body that would make the request a good one.
 */
function refusalOfHeaders(
  signing: Signing,
  headers: SignedHeaders,
  now: number,
): SignatureRefusal | undefined {
  const { timestamps } = readHeaders(signing, headers);
  return refusalOfForm(signing, headers) ?? refusalOfTimestamp(signing.time, timestamps, now);
}

/**
 * False when none of these values of headers, whatever the names of those, looks like a signature of
 * any of the schemes that could still be good at `now`. It asks nothing about a partner.
 */
export function looksSigned(
  signings: readonly Signing[],
  values: readonly string[],
  now: number,
): boolean {
  return signings.some(({ read, time }) =>
    values.map(read).some(({ signatures, timestamps = values }) => {
      const isGoodTime = (text: string) => refusalOfTimestamp(time, [text], now) === undefined;
      return signatures.length > 0 && (!time || timestamps.some(isGoodTime));
    }),
  );
}

/** The time stands in a header of its own, unless that of the signature has it. */
function readHeaders(
  signing: Signing,
  { signatures: [value = ''], timestamps }: SignedHeaders,
): { signatures: readonly string[]; timestamps: readonly string[] } {
  return { timestamps, ...signing.read(value) };
}

function refusalOfForm(
  signing: Signing,
  { signatures, ids: [id = '', ...moreIds] = [] }: SignedHeaders,
): SignatureRefusal | undefined {
  const [value, ...more] = signatures;
  if (value === undefined) return 'signature-missing';
  const isMalformed = more.length > 0 || signing.read(value).signatures.length === 0;
  const lacksId = signing.coversId && (moreIds.length > 0 || !MESSAGE_ID.test(id));
  return isMalformed || lacksId ? 'signature-malformed' : undefined;
}

/** A secret that was right once, or will be, has a reason of its own: it says what an operator has to mend. */
function refusalOfSecret(matches: Record<SecretStatus, number>): SignatureRefusal {
  if (matches.expired > 0) return 'secret-expired';
  return matches['not-yet-active'] > 0 ? 'secret-not-yet-active' : 'signature-wrong';
}

function refusalOfTimestamp(
  time: SignedTime | undefined,
  [timestamp = '', ...more]: readonly string[],
  now: number,
): SignatureRefusal | undefined {
  if (!time) return undefined;
  const ms = more.length === 0 ? toMs(time, timestamp) : Number.NaN;
  if (Number.isNaN(ms)) return 'timestamp-malformed';
  return Math.abs(now - ms) <= time.toleranceMs ? undefined : 'timestamp-outside-window';
}

function toMs({ unit, takesText = false }: SignedTime, timestamp: string): number {
  if (DIGITS[unit].test(timestamp)) return Number(timestamp) * (unit === 's' ? SECOND : 1);
  return takesText && TIME_IN_WORDS.test(timestamp) ? Date.parse(timestamp) : Number.NaN;
}

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
