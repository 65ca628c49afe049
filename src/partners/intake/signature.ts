import { createSecretKey, type KeyObject } from 'node:crypto';
import { SECOND } from '#shared/clock.ts';
import { sameDigest, sha256Hex } from '#shared/crypto/hash.ts';
import type { PartnerRefusal } from '#shared/outcomes/refusals.ts';
import type { Secret } from '#shared/crypto/secret.ts';
import type { SignedContent, SignedTime, Signing } from './signing.ts';

/** A signing secret, active from `notBefore` on and until `notAfter` (ms), both inclusive. */
export type PartnerSecret = { value: Secret; notBefore?: number; notAfter?: number };

/** A request as it came: every value of the headers, in order. */
export type SignedRequest = Omit<SignedContent, 'timestamp' | 'id'> & {
  signatures: readonly string[];
  timestamps: readonly string[];
  ids?: readonly string[];
};

/** The part of it that stands in the headers. */
type SignedHeaders = Pick<SignedRequest, 'signatures' | 'timestamps' | 'ids'>;

/** A key to try, the start of its secret's digest, and whether the secret may sign at this time. */
export type TriedKey = { key: KeyObject; status: SecretStatus; digest: string };

/** Before `notBefore`, after `notAfter`, or neither. */
export type SecretStatus = 'active' | 'expired' | 'not-yet-active';

/** For log and metrics only, never for the response. */
export type SignatureRefusal = Exclude<PartnerRefusal, 'bearer' | 'limit'>;

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
export function refusalOfHeaders(
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

/** Stands for a secret where people look: eight hexadecimal digits of its SHA-256. */
export function digestOf(secret: Secret): string {
  return sha256Hex(secret.reveal()).slice(0, 8);
}

/** Status of the secret at `now`. */
export function statusOf(
  { notBefore = -Infinity, notAfter = Infinity }: PartnerSecret,
  now: number,
): SecretStatus {
  if (now > notAfter) return 'expired';
  return now < notBefore ? 'not-yet-active' : 'active';
}

/** The key that a secret stands for. @throws {TypeError} it is empty, or none for this scheme */
export function signingKey(secret: Secret, signing: Pick<Signing, 'keyBytes'> = {}): KeyObject {
  const text = secret.reveal();
  const bytes = signing.keyBytes ? signing.keyBytes(text) : Buffer.from(text);
  if (!bytes?.length) throw new TypeError('a signing secret is empty or of another form');
  return createSecretKey(bytes);
}
