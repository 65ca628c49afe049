import { createHmac, createSecretKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { MINUTE } from '#shared/clock.ts';
import { sameDigest } from '#shared/crypto/hash.ts';
import type { Secret } from '#shared/crypto/secret.ts';
import { toPathAndQuery } from '#shared/text/request-target.ts';

/** How a partner signs its requests. */
export type Scheme = 'hmac-sha256' | 'signature-v3';

/** A signed request is refused when it is older, or dated further ahead, than this. */
const TIMESTAMP_AGE_MAX_MS = 5 * MINUTE;

/** What is signed. `uri` and `timestamp` count for `signature-v3` only. */
export type SignedContent = {
  /** As on the wire. */
  method: string;
  /** The public address that was requested, escapes as they came. */
  uri: string;
  /** The raw bytes of the body. */
  body: Buffer;
  /** Milliseconds since the Unix epoch as 13 digits. */
  timestamp: string;
};

/** A request as it came: every value of the two headers, in order. */
export type SignedRequest = Omit<SignedContent, 'timestamp'> & {
  signatures: readonly string[];
  timestamps: readonly string[];
};

/** A key to try, the start of its secret's digest, and whether the secret may sign at this time. */
export type TriedKey = { key: KeyObject; standing: SecretStanding; digest: string };

/** Before `notBefore`, after `notAfter`, or neither. */
export type SecretStanding = 'active' | 'expired' | 'not-yet-active';

/** Why a request was refused: for log and metrics only, never for the response. */
export type SignatureRefusal =
  | 'signature-missing'
  | 'signature-malformed'
  | 'signature-wrong'
  | 'secret-expired'
  | 'secret-not-yet-active'
  | 'timestamp-malformed'
  | 'timestamp-outside-window';

const TIMESTAMP = /^[1-9]\d{12}$/;

/** Exactly the twelve escapes that senders of the v3 scheme decode before they sign. */
const DECODED_ESCAPES = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi;

/** All that differs between the schemes. */
type SchemeRules = {
  /** The form of the signature's header. */
  form: RegExp;
  /** The header's value that is compared: of one signature there is one spelling. */
  normalize(signature: string): string;
  /** The header's value for this content. */
  sign(key: KeyObject, content: SignedContent): string;
  /** Whether the time is signed, and a request that is too old refused. */
  hasTimestamp: boolean;
};

const rulesOf: Record<Scheme, SchemeRules> = {
  'hmac-sha256': {
    form: /^sha256=[0-9a-fA-F]{64}$/,
    normalize: (signature) => signature.toLowerCase(),
    sign: (key, { body }) => `sha256=${createHmac('sha256', key).update(body).digest('hex')}`,
    hasTimestamp: false,
  },
  'signature-v3': {
    form: /^[A-Za-z0-9+/]{43}=$/,
    normalize: (signature) => signature,
    sign: (key, { method, uri, body, timestamp }) =>
      createHmac('sha256', key)
        .update(method + toSignedUri(uri))
        .update(body)
        .update(timestamp)
        .digest('base64'),
    hasTimestamp: true,
  },
};

/** Every scheme that there is. */
export const schemes = Object.keys(rulesOf) as readonly Scheme[];

export function isScheme(name: string | undefined): name is Scheme {
  return (schemes as readonly (string | undefined)[]).includes(name);
}

/** Whether requests of the scheme carry a signed time. */
export function hasTimestamp(scheme: Scheme): boolean {
  return rulesOf[scheme].hasTimestamp;
}

/** What became of a signature: `digest` is that of the secret that made it. */
export type SignatureVerdict = { digest: string } | { refusal: SignatureRefusal };

/**
 * Verified when a secret that is active made the signature and the request is not too old or too far
 * ahead, else refused with the reason. Every key is tried in full, whatever the headers look like, so that
 * the time it takes tells nothing.
 * @see https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
 * @see https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/request-validation
 */
export function checkSignature(
  scheme: Scheme,
  keys: readonly TriedKey[],
  request: SignedRequest,
  now: number,
): SignatureVerdict {
  const [signature = ''] = request.signatures;
  const [timestamp = ''] = request.timestamps;
  const given = Buffer.from(rulesOf[scheme].normalize(signature));
  const matches: Record<SecretStanding, number> = { active: 0, expired: 0, 'not-yet-active': 0 };
  let digest = '';
  for (const tried of keys) {
    const expected = sign(scheme, tried.key, { ...request, timestamp });
    if (!sameDigest(given, Buffer.from(expected))) continue;
    matches[tried.standing] += 1;
    if (tried.standing === 'active') digest = tried.digest;
  }
  const refusal = refusalOfForm(scheme, request.signatures) ?? refusalOfMatch();
  return refusal === undefined ? { digest } : { refusal };

  function refusalOfMatch(): SignatureRefusal | undefined {
    if (matches.active === 0) return refusalOfSecret(matches);
    return hasTimestamp(scheme) ? refusalOfTimestamp(request.timestamps, now) : undefined;
  }
}

/**
 * What the headers alone can be refused for: undefined when there is a body that would make the request
 * a good one.
 */
export function refusalOfHeaders(
  scheme: Scheme,
  { signatures, timestamps }: Pick<SignedRequest, 'signatures' | 'timestamps'>,
  now: number,
): SignatureRefusal | undefined {
  const malformed = refusalOfForm(scheme, signatures);
  if (malformed !== undefined || !hasTimestamp(scheme)) return malformed;
  return refusalOfTimestamp(timestamps, now);
}

/**
 * False when none of these values of headers, whatever the names of those, looks like a signature of
 * any scheme that could still be good at `now`. It asks nothing about a partner.
 */
export function looksSigned(values: readonly string[], now: number): boolean {
  const isGoodTime = (): boolean =>
    values.some((value) => refusalOfTimestamp([value], now) === undefined);
  return Object.values(rulesOf).some(
    (rules) =>
      values.some((value) => rules.form.test(value)) && (!rules.hasTimestamp || isGoodTime()),
  );
}

function refusalOfForm(
  scheme: Scheme,
  signatures: readonly string[],
): SignatureRefusal | undefined {
  const [signature = ''] = signatures;
  if (signatures.length === 0) return 'signature-missing';
  return signatures.length > 1 || !rulesOf[scheme].form.test(signature)
    ? 'signature-malformed'
    : undefined;
}

/** A secret that was right once, or will be, has a reason of its own: it says what an operator has to mend. */
function refusalOfSecret(matches: Record<SecretStanding, number>): SignatureRefusal {
  if (matches.expired > 0) return 'secret-expired';
  return matches['not-yet-active'] > 0 ? 'secret-not-yet-active' : 'signature-wrong';
}

function refusalOfTimestamp(
  timestamps: readonly string[],
  now: number,
): SignatureRefusal | undefined {
  const [timestamp = ''] = timestamps;
  if (timestamps.length !== 1 || !TIMESTAMP.test(timestamp)) return 'timestamp-malformed';
  const isNear = Math.abs(now - Number(timestamp)) <= TIMESTAMP_AGE_MAX_MS;
  return isNear ? undefined : 'timestamp-outside-window';
}

/**
 * The value of the signature header: `sha256=<hex>` over the body, or the base64 of the HMAC of
 * `method + uri + body + timestamp` without separators.
 */
export function sign(scheme: Scheme, key: KeyObject, content: SignedContent): string {
  return rulesOf[scheme].sign(key, content);
}

/** The URI with the twelve escapes decoded, once; all others stay as they are. */
export function toSignedUri(uri: string): string {
  return uri.replace(DECODED_ESCAPES, (escape) => decodeURIComponent(escape));
}

/**
 * The public address of a request. Only path and query come from the request: scheme and host are the
 * configuration's, because a proxy, the `Host` header or an absolute request line may name others.
 */
export function toPublicUri(publicUrl: string, requestTarget: string): string {
  return publicUrl.replace(/\/+$/, '') + toPathAndQuery(requestTarget);
}

/** The key that a secret stands for: its UTF-8 bytes. @throws {TypeError} it is empty */
export function signingKey(secret: Secret): KeyObject {
  if (secret.reveal() === '') throw new TypeError('a signing secret must not be empty');
  return createSecretKey(Buffer.from(secret.reveal()));
}
