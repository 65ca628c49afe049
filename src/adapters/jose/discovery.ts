/**
 * Where the issuer's keys are. Of its discovery document only `jwks_uri` is used, and only when
 * the document names the very issuer that the request went to.
 */
import { isLoopbackHost } from '#shared/loopback.ts';
import { isRecord } from '#shared/text/json.ts';
import { fetchJson, IssuerFailure } from './fetch-json.ts';

/**
 * The address of the issuer's key set (OpenID Connect Discovery 1.0 §4).
 * @throws {IssuerFailure}
 */
export async function discoverKeySetUrl(issuer: string, signal: AbortSignal): Promise<string> {
  const base = issuer.endsWith('/') ? issuer.slice(0, -1) : issuer;
  const document = await fetchJson(`${base}/.well-known/openid-configuration`, signal);
  if (!isRecord(document)) throw new IssuerFailure('Its discovery document is not an object.');
  if (document['issuer'] !== issuer)
    throw new IssuerFailure('Its discovery document names another issuer.');
  const url = document['jwks_uri'];
  if (typeof url !== 'string' || !isTrustworthy(url))
    throw new IssuerFailure('Its discovery document names no key set at an https address.');
  return url;
}

/** Keys that came over a network in plain text could be anybody's; loopback is no network. */
function isTrustworthy(text: string): boolean {
  const url = URL.parse(text);
  if (!url || url.username !== '' || url.password !== '') return false;
  if (url.protocol === 'https:') return true;
  return url.protocol === 'http:' && isLoopbackHost(url.hostname);
}
