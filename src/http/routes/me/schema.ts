import { z } from 'zod';
import { grantOut } from '#access/consumers/consumer-out.ts';
import { instantOut } from '#shared/instant-out.ts';

/** The response to `GET /api/v1/me`. */
export const keyHolderOut = z
  .object({
    id: z.string().describe('The consumer’s id, a UUID.'),
    name: z.string(),
    grants: z.array(grantOut).readonly().describe('Empty: the consumer may read nothing.'),
    limitPerMinute: z.int().describe('Calls per minute.'),
    key: z
      .object({
        keyId: z.string().describe('The public part of the key that was sent.'),
        expiresAt: instantOut
          .exactOptional()
          .describe('From then on it is refused. Absent: never.'),
      })
      .meta({ id: 'HeldKey' }),
  })
  .meta({
    id: 'KeyHolder',
    description: 'The consumer of a key, as the holder of the key sees it.',
  });
