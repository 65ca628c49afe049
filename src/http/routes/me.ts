import { z } from 'zod';
import { toRfc3339 } from '#shared/clock.ts';
import { grantOut } from '#access/consumers/consumer-out.ts';
import { instantOut } from '#shared/instant-out.ts';
import type { AreaContext, HttpApp, KeyHolder } from '../context.ts';
import { admitKey, keyHolderOf } from '../auth/key-access.ts';
import { uncached } from '../responses/headers.ts';
import { describeRoute } from '../openapi/describe-route.ts';

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
  })
  .meta({
    id: 'KeyHolder',
    description: 'The consumer of a key, as the holder of the key sees it.',
  });

/** `GET /api/v1/me`: for the holder of a key, with or without any grant. */
export function meRoutes(app: HttpApp, context: AreaContext): void {
  app.addHook('onRequest', (request, reply) => admitKey(context, { request, reply }));
  app.get('/api/v1/me', meRoute, async (request, reply) =>
    reply.headers({ ...uncached, vary: 'X-API-KEY' }).send(toOut(keyHolderOf(request))),
  );
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
    'Its consumer, what that may do, how often it may call, and until when the key is good. Needs no grant.',
  security: 'ApiKey',
  ok: { 200: { description: 'The consumer of this key.', schema: keyHolderOut } },
  headers: ['Cache-Control', 'Vary'],
  problems: [],
});
