/** What a partner sends. */
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

/** What `signature-v3` signs in their plain form, and nothing else. */
const PLAIN = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi;

/**
 * The headers of a call of the scheme `hmac-sha256`: `X-Partner-Signature`. Needs WebCrypto, which browsers have on
 * https and localhost only.
 */
export async function signHmacSha256({ secret, body }: Signable): Promise<Record<string, string>> {
  const digest = await hmacSha256(secret, [body]);
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return { 'X-Partner-Signature': `sha256=${hex}` };
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
    'X-Vendor-Signature-v3': btoa(String.fromCharCode(...digest)),
    'X-Vendor-Request-Timestamp': String(timestampMs),
  };
}

async function hmacSha256(secret: string, parts: (string | Uint8Array)[]): Promise<Uint8Array> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const secretBytes = new TextEncoder().encode(secret);
  const key = await crypto.subtle.importKey('raw', secretBytes, algorithm, false, ['sign']);
  const bytes = await new Blob(parts as BlobPart[]).arrayBuffer();
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes));
}
