import { activeSecrets } from '../partner.ts';
import type { Partner } from '../partner.ts';
import { hasTimestamp, sign, signingKey } from './signature.ts';

/** What a partner would send: the method is always `POST`. */
export type RequestToSign = { uri: string; body: Buffer };

/**
 * The headers with which `partner` would sign this request now; undefined when none of its secrets is
 * active. The timestamp is good for 5 minutes.
 */
export function signRequest(
  partner: Pick<Partner, 'scheme' | 'secrets' | 'headers'>,
  { uri, body }: RequestToSign,
  now: number,
): Record<string, string> | undefined {
  const [secret] = activeSecrets(partner, now);
  if (secret === undefined) return undefined;
  const { scheme, headers } = partner;
  const timestamp = String(now);
  const content = { method: 'POST', uri, body, timestamp };
  return {
    'Content-Type': 'application/json',
    [headers.signature]: sign(scheme, signingKey(secret), content),
    ...(hasTimestamp(scheme) && { [headers.timestamp]: timestamp }),
  };
}
