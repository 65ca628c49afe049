import { isUtf8 } from 'node:buffer';
import { Webhook } from 'standardwebhooks';
import { MINUTE, SECOND } from '#shared/clock.ts';
import { webhookSecretBytes } from '#shared/crypto/webhook-secret.ts';
import { createHmacSigning } from './hmac.ts';
import type { Signing } from './signing.ts';

/** How a partner signs; `hmac` as its configuration says. */
export type Scheme = FixedScheme | 'hmac';

/** A scheme whose form is known. */
export type FixedScheme = 'hmac-sha256' | 'signature-v3' | 'standard-webhooks';

const SIGNATURE = /^v1,[A-Za-z0-9+/]{43}=$/;

/**
 * The symmetric signatures of the specification, by its own library. That signs text, and would read any
 * bytes that are no UTF-8 as the same: no signature covers these.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
const standardWebhooks: Signing = {
  kind: 'standard-webhooks',
  coversUrl: false,
  coversId: true,
  time: { unit: 's', toleranceMs: 5 * MINUTE },
  read: (value) => ({ signatures: value.split(' ').filter((text) => SIGNATURE.test(text)) }),
  sign: (key, { id = '', timestamp, body }) => {
    const webhook = new Webhook(key.export(), { format: 'raw' });
    const signature = webhook.sign(id, new Date(Number(timestamp) * SECOND), body);
    return isUtf8(body) ? signature : '';
  },
  write: (signature) => signature,
  keyBytes: webhookSecretBytes,
};

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
