import { SECOND } from '#shared/clock.ts';
import { activeSecrets, type Partner } from '../partner.ts';
import { signingKey } from './signature.ts';

/** What a partner would send: the method is always `POST`. `id`: the message's, where the scheme has one. */
export type RequestToSign = { uri: string; body: Buffer; id: string };

/**
 * The headers with which `partner` would sign this request now; undefined when none of its secrets is
 * active. @throws {TypeError} the secret is none for the scheme
 */
export function signRequest(
  partner: Pick<Partner, 'signing' | 'secrets' | 'headers'>,
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
