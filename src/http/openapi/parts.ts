import type { OpenAPIV3 } from 'openapi-types';

type Header = { description: string; schema: { type: 'string' | 'integer'; format?: string } };

const text = (description: string): Header => ({ description, schema: { type: 'string' } });
const whole = (description: string): Header => ({ description, schema: { type: 'integer' } });

/** The response headers that operations name, each explained once. */
export const responseHeaders: Readonly<Record<string, Header>> = {
  'X-Request-Id': {
    description: 'Names this call in our logs.',
    schema: { type: 'string', format: 'uuid' },
  },
  ETag: text('Strong validator of exactly these bytes; for `If-None-Match` and `If-Match`.'),
  'Cache-Control': text('Who may keep the answer, and how long; `no-store` on every error.'),
  Vary: text('Request headers that the answer depends on.'),
  Age: whole('Seconds since the tracker last confirmed the answer.'),
  'Cache-Status': text('How the answer came about (RFC 9211).'),
  Link: text(
    '`rel="next"`: the next page, when there is one (RFC 8288); more relations where named.',
  ),
  'RateLimit-Policy': text('Calls per minute (draft-ietf-httpapi-ratelimit-headers).'),
  RateLimit: text('Calls left in the current minute, and its seconds left.'),
  'Key-Expires': text(
    'When the key that was sent expires, as an HTTP date; there from 14 days before.',
  ),
  'Retry-After': whole('Seconds to wait before trying again.'),
  'WWW-Authenticate': text('The kind of credential that is wanted.'),
  Allow: text('The methods that the path takes.'),
  Location: text('Where the new resource is, or the status address of a delivery.'),
  'Content-Location': text('The address of exactly this version.'),
  Deprecation: text('Since when the version is deprecated (RFC 9745).'),
  Sunset: text('From when on the version may be gone (RFC 8594).'),
  'Idempotent-Replayed': text('`true`: the answer to an earlier, identical request.'),
  'X-Correlation-Id': text('The correlation id of the call, as sent or made.'),
};

/** Every way to authenticate; those that no route uses are left out of the document. */
export const securitySchemes: Record<string, OpenAPIV3.SecuritySchemeObject> = {
  ApiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-KEY',
    description: "A consumer's key, `tpk_…`.",
  },
  Bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'An access token of the configured OpenID Connect issuer.',
  },
  PartnerSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Partner-Signature',
    description: 'Scheme `hmac-sha256`: `sha256=` and the hex HMAC-SHA256 of the raw body.',
  },
  VendorSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Vendor-Signature-v3',
    description:
      'Scheme `signature-v3`: the base64 HMAC-SHA256 of method, public URI, raw body and the value of `X-Vendor-Request-Timestamp`, without separators. A partner may have other header names.',
  },
  WebhookSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'Webhook-Signature',
    description:
      'Scheme `standard-webhooks`: [Standard Webhooks](https://www.standardwebhooks.com), with `webhook-id` and `webhook-timestamp`. A partner of scheme `hmac` signs in a header that the configuration names.',
  },
  TrackerSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Hub-Signature-256',
    description: "The tracker's HMAC-SHA256 of the raw body.",
  },
};

/** Groups of operations; those without an operation are left out of the document. */
export const tags = [
  { name: 'Leads', description: 'Approved leads, read live from the tracker.' },
  { name: 'Partners', description: 'Signed calls of partners and their receipts.' },
  { name: 'Catalog', description: 'Artifacts and their versions.' },
  { name: 'Consumers', description: 'Machine clients with their grants and keys.' },
  { name: 'Operations', description: 'What operators look up and undo.' },
  { name: 'Webhooks', description: 'Events of the tracker itself.' },
] as const;
