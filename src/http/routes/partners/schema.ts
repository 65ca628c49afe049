import { z } from 'zod';

/**
 * What a partner may send: free-form, since each partner's fields are found by pointers. Only for
 * openapi.json; the bytes are read after their signature was checked.
 */
export const deliveryIn = z.union([z.looseObject({}), z.array(z.looseObject({})).max(500)]).meta({
  id: 'Delivery',
  description: 'One event, or a batch of up to 500. Signed as raw bytes.',
  examples: [
    { eventType: 'lead.deletion', eventId: 'evt-81', externalId: 'crm-1-000123' },
    [{ subscriptionType: 'contact.deletion', eventId: 3816279340, objectId: 1246965 }],
  ],
});

/** Parameters of both partner paths. An id of another shape is refused like a wrong signature. */
export const partnerParams = z.object({
  partnerId: z
    .string()
    .meta({ description: 'As in the configuration.', pattern: '^[a-z0-9][a-z0-9-]{0,62}$' }),
});

/** The patterns are for openapi.json alone: what has another shape is refused like a wrong signature. */
const described = (description: string, pattern: string) =>
  z.string().optional().meta({ description, pattern });

/** Headers that a delivery may carry. Which of them count is set for each partner; `hmac` names its own. */
export const deliveryHeaders = z.object({
  'X-Partner-Signature': described(
    'Scheme `hmac-sha256`: `sha256=` and the hex HMAC-SHA256 of the raw body.',
    '^sha256=[0-9A-Fa-f]{64}$',
  ),
  'X-Vendor-Signature-v3': described(
    'Scheme `signature-v3`: base64 HMAC-SHA256 of method, URI, body and timestamp.',
    '^[A-Za-z0-9+/]{43}=$',
  ),
  'X-Vendor-Request-Timestamp': described(
    'Scheme `signature-v3`: milliseconds since the Unix epoch, at most 5 minutes off.',
    '^[1-9][0-9]{12}$',
  ),
  'Webhook-Id': described(
    'Scheme `standard-webhooks`: of the message.',
    '^[0-9A-Za-z_.:+/=-]{1,255}$',
  ),
  'Webhook-Timestamp': described(
    'Scheme `standard-webhooks`: seconds since the Unix epoch, at most 5 minutes off.',
    '^[1-9][0-9]{9}$',
  ),
  'Webhook-Signature': described(
    'Scheme `standard-webhooks`: `v1,` and the base64 HMAC-SHA256 of id, timestamp and body, joined by dots; several are separated by blanks.',
    'v1,[A-Za-z0-9+/]{43}=',
  ),
  'X-Correlation-Id': described('Echoed; one of another shape is ignored.', '^[!-?A-~]{1,128}$'),
});
