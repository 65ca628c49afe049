import { z } from 'zod';
import { toRfc3339 } from '#shared/clock.ts';
import { grantOf } from '#access/grant.ts';
import { grantOut } from '#access/consumers/consumer-out.ts';
import { listDeprecatedReads } from '#catalog/usage.ts';
import { instantOut } from '#shared/instant-out.ts';
import type { AreaContext, HttpApp, KeyHolder } from '../context.ts';
import { admitKey, keyHolderOf } from '../auth/key-access.ts';
import { uncached } from '../responses/headers.ts';
import { describeRoute } from '../route.ts';

const deprecatedReadOut = z
  .object({ id: z.string(), version: z.string(), sunsetAt: instantOut.optional() })
  .meta({ id: 'DeprecatedRead', description: 'A version that its reader is to leave.' });

/** The response to `GET /api/v1/me`. */
const keyHolderOut = z
  .object({
    id: z.string().describe('The consumer’s id, a UUID.'),
    name: z.string(),
    grants: z.array(grantOut).readonly().describe('Empty: the consumer may read nothing.'),
    limitPerMinute: z.int().describe('Calls per minute.'),
    key: z
      .object({
        keyId: z.string().describe('The public part of the key that was sent.'),
        expiresAt: instantOut.optional().describe('From then on it is refused. Absent: never.'),
      })
      .meta({ id: 'HeldKey' }),
    deprecated: z
      .array(deprecatedReadOut)
      .optional()
      .describe(
        'There where the consumer may read a catalog: deprecated versions that it read in the last 90 days, the next sunset first.',
      ),
  })
  .meta({
    id: 'KeyHolder',
    description: 'The consumer of a key, as the holder of the key sees it.',
  });

/** `GET /api/v1/me`: for the holder of a key, with or without any grant. */
export function meRoutes(app: HttpApp, context: AreaContext): void {
  app.addHook('onRequest', (request, reply) => admitKey(context, { request, reply }));
  app.get('/api/v1/me', meRoute, async (request) => {
    const holder = keyHolderOf(request);
    const deprecated = await deprecatedReads(context, holder);
    return { ...toOut(holder), ...(deprecated && { deprecated }) };
  });
}

/** Deprecated versions that a reader of the catalog still reads; undefined for whoever is none. */
async function deprecatedReads(
  { bearer }: AreaContext,
  { principal: { consumerId, grants } }: KeyHolder,
): Promise<z.infer<typeof deprecatedReadOut>[] | undefined> {
  const workspaceId = grantOf(grants, 'catalog:read')?.workspace;
  if (!bearer || workspaceId === undefined) return undefined;
  const reader = { kind: 'consumer', id: consumerId } as const;
  const reads = await listDeprecatedReads(bearer.catalog, workspaceId, reader);
  return reads.map(({ id, version, sunsetAt }) => {
    return { id, version, ...(sunsetAt !== undefined && { sunsetAt: toRfc3339(sunsetAt) }) };
  });
}

function toOut({ principal, limitPerMinute }: KeyHolder): z.infer<typeof keyHolderOut> {
  const { consumerId, name, grants, keyId, expiresAt } = principal;
  return {
    id: consumerId,
    name,
    grants,
    limitPerMinute,
    key: { keyId, ...(expiresAt !== undefined && { expiresAt: toRfc3339(expiresAt) }) },
  };
}

const meRoute = describeRoute({
  tag: 'Consumers',
  operationId: 'readMe',
  summary: 'Tell the holder of a key who it is',
  description:
    'Its consumer, what that may do, how often it may call, until when the key is good, and which deprecated versions of the catalog it reads. Needs no grant.',
  security: 'ApiKey',
  ok: { 200: { description: 'The consumer of this key.', schema: keyHolderOut } },
  sends: { ...uncached, Vary: 'X-API-KEY' },
  problems: [],
});
