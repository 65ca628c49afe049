import { MINUTE } from '#shared/clock.ts';
import { createHmacSigning } from './hmac.ts';
import type { Signing } from './signing.ts';
import { standardWebhooks } from './standard-webhooks.ts';

/** How a partner signs; `hmac` as its configuration says. */
export type Scheme = FixedScheme | 'hmac';

/** A scheme whose form is known. */
export type FixedScheme = 'hmac-sha256' | 'signature-v3' | 'standard-webhooks';

/**
 * @see https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
 * @see https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/request-validation
 */
export const fixedSignings: Readonly<Record<FixedScheme, Signing>> = {
  'hmac-sha256': createHmacSigning({
    algorithm: 'sha256',
    encoding: 'hex',
    prefix: 'sha256=',
    content: '{body}',
  }),
  'signature-v3': createHmacSigning({
    algorithm: 'sha256',
    encoding: 'base64',
    prefix: '',
    content: '{method}{url}{body}{timestamp}',
    time: { unit: 'ms', toleranceMs: 5 * MINUTE },
    decodesUrl: true,
  }),
  'standard-webhooks': standardWebhooks,
};

export function isFixedScheme(name: string | undefined): name is FixedScheme {
  return name !== undefined && Object.hasOwn(fixedSignings, name);
}
