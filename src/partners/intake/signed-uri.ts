import { toPathAndQuery } from '#shared/text/request-target.ts';

/** Exactly the twelve escapes that senders of the v3 scheme decode before they sign. */
const DECODED_ESCAPES = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi;

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
