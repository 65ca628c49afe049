import { isUtf8 } from 'node:buffer';
import { Webhook } from 'standardwebhooks';
import { MINUTE, SECOND } from '#shared/clock.ts';
import { webhookSecretBytes } from '#shared/crypto/webhook-secret.ts';
import type { Signing } from './signing.ts';

const SIGNATURE = /^v1,[A-Za-z0-9+/]{43}=$/;

/**
 * The symmetric signatures of the specification, by its own library. That signs text, and would read any
 * bytes that are no UTF-8 as the same: no signature covers these.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export const standardWebhooks: Signing = {
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
