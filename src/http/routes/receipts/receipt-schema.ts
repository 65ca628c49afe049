import { z } from 'zod';
import { receiptStatuses } from '#partners/receipts/receipt.ts';

/** The answer to a delivery. */
export const receiptOut = z
  .object({
    id: z.uuid(),
    partnerId: z.string(),
    eventType: z.string().describe('The event’s own; `batch` when a delivery holds several kinds.'),
    externalId: z.string().optional().describe('Left out for a batch of several events.'),
    correlationId: z.string(),
    status: z.enum(receiptStatuses),
    receivedAt: z.iso.datetime(),
  })
  .meta({
    id: 'Receipt',
    description: 'The record of one accepted delivery.',
    examples: [
      {
        id: '7b6c1f1e-3c9d-4f0a-9a53-0d6f6f1c8a11',
        partnerId: 'crm-two',
        eventType: 'contact.deletion',
        externalId: '1246965',
        correlationId: '0b9f6a52-7f7e-4f0c-8f36-5d0f6c1a2b3c',
        status: 'ACCEPTED',
        receivedAt: '2026-09-21T12:00:00Z',
      },
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

/** Headers that a delivery may carry. Which pair counts is set for each partner. */
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
  'X-Correlation-Id': described('Echoed; one of another shape is ignored.', '^[!-?A-~]{1,128}$'),
});
