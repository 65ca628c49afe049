import type { RouteOptions } from 'fastify';
import type { OpenAPIV3, OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import { VERSION } from '#shared/program.ts';
import { ENTITY_TAGS } from '../requests/entity-tags.ts';
import { type OpenApiDocument, operationKeysOf, withUsedParts } from './document.ts';
import type { RouteDescription } from '../route.ts';
import { createSchemas, problemExamples, type ToJsonSchema } from './components.ts';
import { shareParts } from './references.ts';
import { responsesOf, schemesOf } from './responses.ts';

/** The document of these routes, in their order; the same text for the same routes. */
export function buildDocument(routes: readonly RouteOptions[]): OpenApiDocument {
  const { toJsonSchema, components } = createSchemas();
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const described = route.config?.described;
    if (!described || route.method === 'HEAD') continue;
    for (const key of operationKeysOf(route)) {
      const [method = '', path = ''] = key.split(' ');
      paths[path] = { ...paths[path], [method]: operationOf({ route, described }, toJsonSchema) };
    }
  }
  const document: OpenApiDocument = {
    openapi: '3.1.1',
    info: {
      title: 'Trackport',
      version: VERSION,
      summary: 'Leads from an issue tracker, deletions from partners, and a catalog.',
      description:
        'Every error is a problem document (RFC 9457); decide by its `code`. The body of a GET is ignored, whatever it is.',
      contact: { name: 'The operator of this instance' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    components: {
      securitySchemes,
      schemas: Object.fromEntries(components()),
      headers: responseHeaders,
      examples: problemExamples(),
    },
    paths,
    servers: [{ url: '/', description: 'This instance.' }],
    tags: [...tags],
  };
  return shareParts(withUsedParts(document));
}

/** A route that the document describes. */
type Described = { route: RouteOptions; described: RouteDescription };

/** Media types of signed bodies. */
const ANY_JSON = ['application/json', 'application/*+json'];

function operationOf({ route, described }: Described, toJsonSchema: ToJsonSchema) {
  const { tag, operationId, summary, description, scope, signedBody } = described;
  const body = (route.schema?.body ?? signedBody) as z.ZodType | undefined;
  const parameters = parametersOf({ route, described }, toJsonSchema);
  return {
    operationId,
    summary,
    tags: [tag],
    description,
    ...(body && {
      requestBody: {
        required: !(body instanceof z.ZodOptional),
        content: Object.fromEntries(
          (signedBody ? ANY_JSON : ['application/json']).map((type) => [
            type,
            { schema: toJsonSchema(body, 'input') },
          ]),
        ),
      },
    }),
    ...(parameters.length > 0 && { parameters }),
    security: schemesOf(described).map((scheme) => ({
      [scheme]: scheme === 'Bearer' && scope !== undefined ? [scope] : [],
    })),
    responses: responsesOf(String(route.method), described, toJsonSchema),
  };
}

const ifNoneMatch: OpenAPIV3_1.ParameterObject = {
  in: 'header',
  name: 'If-None-Match',
  required: false,
  description: 'The `ETag` of an answer that the caller has: 304 when it is still the same.',
  schema: { type: 'string', pattern: ENTITY_TAGS.source },
};

/** The parts of a request that parameters stand for, as openapi.json calls them. */
const places = { querystring: 'query', params: 'path', headers: 'header' } as const;

function parametersOf({ route, described }: Described, toJsonSchema: ToJsonSchema) {
  const parameters = Object.entries(places).flatMap(([part, place]) => {
    const schema = route.schema?.[part as keyof typeof places] as z.ZodType | undefined;
    if (!schema) return [];
    const { properties = {}, required = [] } = toJsonSchema(schema, 'input');
    return Object.entries(properties).map(([name, { description, ...property }]) => ({
      schema: property,
      in: place,
      name,
      required: required.includes(name),
      description,
    }));
  });
  return [
    ...parameters.filter(({ name }) => !isCredential(name, described)),
    ...(described.notModified === true ? [ifNoneMatch] : []),
  ];
}

/** A header that a security scheme stands for is no parameter. */
function isCredential(header: string, described: RouteDescription): boolean {
  return schemesOf(described).some((scheme) => {
    const known = securitySchemes[scheme];
    return known?.type === 'apiKey' && known.name === header;
  });
}

type Header = { description: string; schema: { type: 'string' | 'integer'; format?: string } };

const text = (description: string): Header => ({ description, schema: { type: 'string' } });
const whole = (description: string): Header => ({ description, schema: { type: 'integer' } });

/** The response headers that operations name, each explained once. */
const responseHeaders: Readonly<Record<string, Header>> = {
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
    'When the key that was sent expires, as an HTTP date; there from 30 days before.',
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
const securitySchemes: Record<string, OpenAPIV3.SecuritySchemeObject> = {
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
const tags = [
  { name: 'Leads', description: 'Approved leads, read live from the tracker.' },
  { name: 'Partners', description: 'Signed calls of partners and their receipts.' },
  { name: 'Catalog', description: 'Artifacts and their versions.' },
  { name: 'Consumers', description: 'Machine clients with their grants and keys.' },
  { name: 'Operations', description: 'What operators look up and undo.' },
  { name: 'Webhooks', description: 'Events of the tracker itself.' },
] as const;
