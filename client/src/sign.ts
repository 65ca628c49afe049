/** The bytes that a partner sends, and the secret for them. */
export type Signable = {
  /** Shared with Trackport. */
  secret: string;
  /** The very bytes that are sent. */
  body: string | Uint8Array;
};

/** A call by `signature-v3` signs where it goes and when, too. */
export type SignableV3 = Signable & {
  /** Default `POST`. */
  method?: string;
  /** The whole address as it is called, with its query. */
  url: string;
  /** Of the call, in ms since the Unix epoch; default now. Trackport takes it for five minutes. */
  timestampMs?: number;
};

/** Escapes that `signature-v3` signs in their plain form, and no others. */
const PLAIN = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi;

/**
 * The headers of a call of the scheme `hmac-sha256`: `X-Partner-Signature`. Needs WebCrypto, which browsers have on
 * https and localhost only.
 */
export async function signHmacSha256({ secret, body }: Signable): Promise<Record<string, string>> {
  const digest = await hmacSha256(secret, [body]);
  return { 'X-Partner-Signature': `sha256=${toHex(digest)}` };
}

/**
 * The headers of a call of the scheme `signature-v3`: `X-Vendor-Signature-v3` and `X-Vendor-Request-Timestamp`.
 * @see https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/request-validation
 */
export async function signV3(call: SignableV3): Promise<Record<string, string>> {
  const { secret, body, method = 'POST', url, timestampMs = Date.now() } = call;
  const address = url.replace(PLAIN, decodeURIComponent);
  const digest = await hmacSha256(secret, [method, address, body, String(timestampMs)]);
  return {
    'X-Vendor-Signature-v3': toBase64(digest),
    'X-Vendor-Request-Timestamp': String(timestampMs),
  };
}

/** A call by `standard-webhooks` signs its id and its time, too. */
export type SignableWebhook = Signable & {
  /** Of the message: the same when it is sent again. Default: a new one. */
  id?: string;
  timestampMs?: number;
};

/**
 * The headers of a call of the scheme `standard-webhooks`, with a secret as `whsec_…`.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export async function signStandardWebhooks(call: SignableWebhook): Promise<Record<string, string>> {
  const { secret, body, id = `msg_${crypto.randomUUID()}`, timestampMs = Date.now() } = call;
  const seconds = String(Math.floor(timestampMs / 1000));
  const key = Uint8Array.from(atob(secret.replace(/^whsec_/, '')), (char) => char.charCodeAt(0));
  const digest = await hmac(key, 'SHA-256', [`${id}.${seconds}.`, body]);
  return {
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': `v1,${toBase64(digest)}`,
  };
}

/** Signature of a partner of the scheme `hmac`: `partners.<id>.signature` of Trackport's configuration. */
export type HmacSignature = {
  header: string;
  algorithm?: 'sha256' | 'sha512';
  encoding?: 'hex' | 'base64';
  prefix?: string;
  pairs?: { timestamp?: string; signature: string };
  /** With `{body}`, `{timestamp}`, `{method}` and `{url}`; default `{body}`. */
  content?: string;
  timestamp?: { header?: string; unit?: 's' | 'ms' };
};

/** The headers of a call of the scheme `hmac`. */
export async function signHmac(
  call: SignableV3 & { signature: HmacSignature },
): Promise<Record<string, string>> {
  const { secret, body, method = 'POST', url, timestampMs = Date.now(), signature } = call;
  const { header, content = '{body}', timestamp: time } = signature;
  const timestamp = String(time?.unit === 'ms' ? timestampMs : Math.floor(timestampMs / 1000));
  const values: Record<string, string | Uint8Array> = { body, timestamp, method, url };
  const parts = content
    .split(/\{(body|timestamp|method|url)\}/)
    .map((text, at) => (at % 2 === 0 ? text : (values[text] ?? '')));
  const hash = signature.algorithm === 'sha512' ? 'SHA-512' : 'SHA-256';
  const digest = await hmac(new TextEncoder().encode(secret), hash, parts);
  return {
    [header]: headerOf(signature, digest, timestamp),
    ...(time?.header !== undefined && { [time.header]: timestamp }),
  };
}

function headerOf(signature: HmacSignature, digest: Uint8Array, timestamp: string): string {
  const { encoding = 'hex', prefix = '', pairs } = signature;
  const signed = prefix + (encoding === 'hex' ? toHex(digest) : toBase64(digest));
  if (!pairs) return signed;
  const time = pairs.timestamp === undefined ? '' : `${pairs.timestamp}=${timestamp},`;
  return `${time}${pairs.signature}=${signed}`;
}

function hmacSha256(secret: string, parts: (string | Uint8Array)[]): Promise<Uint8Array> {
  return hmac(new TextEncoder().encode(secret), 'SHA-256', parts);
}

async function hmac(
  secret: Uint8Array,
  hash: 'SHA-256' | 'SHA-512',
  parts: (string | Uint8Array)[],
): Promise<Uint8Array> {
  const algorithm = { name: 'HMAC', hash };
  const raw = secret as Uint8Array<ArrayBuffer>;
  const key = await crypto.subtle.importKey('raw', raw, algorithm, false, ['sign']);
  const bytes = await new Blob(parts as BlobPart[]).arrayBuffer();
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes));
}

const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));
const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
