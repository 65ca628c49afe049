/** Signatures of partners as the contract describes them, written without the source: a second opinion. */
import { createHmac } from 'node:crypto';

/** `uri` and `at`, in Unix milliseconds and by default now, matter to `signature-v3` alone. */
type SignedCall = { body: string | Uint8Array; uri?: string; at?: number | string };

/** Headers of a call with a JSON body, `POST` to `uri`. */
export function signedBy(
  scheme: 'hmac-sha256' | 'signature-v3',
  secret: string,
  { body, uri = '', at = Date.now() }: SignedCall,
): Record<string, string> {
  const json = { 'content-type': 'application/json' };
  const mac = createHmac('sha256', secret);
  if (scheme === 'hmac-sha256')
    return { ...json, 'x-partner-signature': `sha256=${mac.update(body).digest('hex')}` };
  return {
    ...json,
    'x-vendor-request-timestamp': `${at}`,
    'x-vendor-signature-v3': mac.update(`POST${uri}`).update(body).update(`${at}`).digest('base64'),
  };
}
