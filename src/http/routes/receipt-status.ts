import { z } from 'zod';
import {
  type CertificateClaims,
  certificateKeys,
  certificateOut,
} from '#partners/receipts/certificate.ts';
import { receiptStatusOut } from '#partners/receipts/status.ts';
import type { AreaContext, HttpApp } from '../context.ts';
import { prefers } from '../requests/headers.ts';
import { REVALIDATED } from '../responses/headers.ts';
import { createRenderer, sendRendered, strongEtag } from '../responses/rendered-response.ts';
import { describeRoute } from '../route.ts';

/** Prefix of status addresses. */
export const STATUS_PATH = '/api/v1/receipt-status';

const JWT_TYPE = 'application/jwt';
const KEYS_PATH = '/.well-known/jwks.json';

/**
 * The outcome of a delivery, for whoever has its status address: as JSON, or as a certificate, with the keys by
 * which anybody checks that.
 */
export function receiptStatusRoutes(app: HttpApp, { partners, publicUrl }: AreaContext): void {
  const render = createRenderer(receiptStatusOut);
  const renderKeys = createRenderer(certificateKeys);
  app.get(`${STATUS_PATH}/:token`, statusRoute, async (request, reply) => {
    const { token } = request.params;
    const isCertificate = prefers(JWT_TYPE, request.headers.accept);
    const { rendered, retryAfterSeconds } = await (isCertificate ? certify(token) : tell(token));
    if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
    return sendRendered({ request, reply }, rendered);
  });
  app.get(KEYS_PATH, keysRoute, async (request, reply) => {
    const rendered = renderKeys(await partners.certificates.keys());
    return sendRendered({ request, reply }, rendered);
  });

  async function tell(token: string) {
    const { status, ...wait } = await partners.readStatus(token);
    return { rendered: render(status), ...wait };
  }

  async function certify(token: string) {
    const { claims, ...wait } = await partners.readCertifiedStatus(token, publicUrl());
    const bytes = Buffer.from(await partners.certificates.sign(claims));
    return { rendered: { bytes, etag: weakEtag(claims), mediaType: JWT_TYPE }, ...wait };
  }
}

/** One that says the same is as good, whenever it was made. */
function weakEtag({ iat: _iat, ...facts }: CertificateClaims): string {
  return `W/${strongEtag(Buffer.from(JSON.stringify(facts)))}`;
}

const statusParams = z.object({
  // Described, not checked: whatever is no token gets one and the same 404.
  token: z.string().meta({
    description: 'As in the `Location` of the answer to a delivery.',
    maxLength: 256,
  }),
});

const statusRoute = describeRoute({
  tag: 'Partners',
  operationId: 'readReceiptStatus',
  summary: 'Tell what became of a delivery',
  description:
    'The status address of a delivery: the `Location` of its 202. It cannot be guessed, needs no credential, and lasts for 30 days; then, or altered, it is 404. It tells no personal data and no issue numbers. With `Accept: application/jwt` the same comes as an erasure certificate: a JWS by `EdDSA` of the type `erasure-receipt+jwt`, which anybody can check later and offline by the keys of `/.well-known/jwks.json`. `Retry-After` is there while work is under way.',
  request: { params: statusParams },
  ok: {
    200: {
      description: 'What became of it so far.',
      schema: receiptStatusOut,
      others: { [JWT_TYPE]: certificateOut },
    },
  },
  notModified: true,
  sends: { 'Cache-Control': REVALIDATED, Vary: 'Accept' },
  headers: ['ETag', 'Retry-After'],
  problems: ['validation-failed', 'not-found', 'store-unavailable'],
});

const keysRoute = describeRoute({
  tag: 'Partners',
  operationId: 'readCertificateKeys',
  summary: 'Keys of erasure certificates',
  description:
    'The public keys (Ed25519) by which erasure certificates are checked: the one that signs now, and every one that ever did.',
  ok: { 200: { description: 'The set.', schema: certificateKeys } },
  notModified: true,
  sends: { 'Cache-Control': 'public, max-age=300' },
  headers: ['ETag'],
  problems: ['validation-failed', 'store-unavailable'],
});
