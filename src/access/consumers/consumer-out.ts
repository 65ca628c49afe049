import { z } from 'zod';
import { SECOND, toRfc3339 } from '#shared/clock.ts';
import { instantOut } from '#shared/instant-out.ts';
import { WRITE_LATE_MS } from '#shared/resilience/late-writes.ts';
import type { ConsumerWithKey } from '../keys/key-rules.ts';
import { type Consumer, consumerStates, type Key, keyStateAt, keyStates } from './consumer.ts';

export const grantOut = z
  .object({
    action: z.string(),
    labels: z.array(z.string()).readonly().optional(),
    workspace: z.string().optional(),
  })
  .meta({
    id: 'Grant',
    description:
      '`leads:read`: with `labels` only leads that carry all of them, without all leads. `catalog:read`: the catalog of `workspace`.',
  });

const keyOut = z
  .object({
    keyId: z.string(),
    last4: z.string().describe('The last four characters of the key.'),
    state: z.enum(keyStates),
    createdBy: z.string(),
    createdAt: instantOut,
    expiresAt: instantOut.optional(),
    revokedAt: instantOut.optional(),
    replacedBy: z.string().optional().describe('The key that a rotation made in its place.'),
    lastUsedAt: instantOut
      .optional()
      .describe(
        `When it last let somebody in, written within ${WRITE_LATE_MS / SECOND} seconds. Absent: never.`,
      ),
  })
  .meta({ id: 'Key', description: 'A key without its secret.' });

/** A consumer as the command line and the admin API show it. */
export const consumerOut = z
  .object({
    id: z.string(),
    name: z.string(),
    state: z.enum(consumerStates),
    limitPerMinute: z.int().optional(),
    grants: z.array(grantOut).readonly(),
    keys: z.array(keyOut).readonly(),
    createdAt: instantOut,
  })
  .meta({ id: 'Consumer', description: 'A machine client with its grants and keys.' });

const keyText = z.string().describe('The whole key. It is shown here and never again.');

/** The response to creating a consumer, the only one with its key in plain text. */
export const createdConsumerOut = z
  .object({
    id: z.string(),
    name: z.string(),
    grants: z.array(grantOut).readonly(),
    key: keyText,
  })
  .meta({ id: 'CreatedConsumer' });

/** The response to making one more key. */
export const newKeyOut = z.object({ key: keyText }).meta({ id: 'NewKey' });

export type GrantOut = z.infer<typeof grantOut>;
export type KeyOut = z.infer<typeof keyOut>;
export type ConsumerOut = z.infer<typeof consumerOut>;

/** `now` decides which keys are expired. */
export function toConsumerOut(consumer: Consumer, now: number): ConsumerOut {
  const { id, name, state, limitPerMinute, grants, keys, createdAt } = consumer;
  return {
    id,
    name,
    state,
    limitPerMinute,
    grants,
    keys: keys.map((key) => toKeyOut(key, now)),
    createdAt: toRfc3339(createdAt),
  };
}

function toKeyOut(key: Key, now: number): KeyOut {
  const { keyId, last4, createdBy, createdAt, expiresAt, revokedAt, replacedBy, lastUsedAt } = key;
  return {
    keyId,
    last4,
    state: keyStateAt(key, now),
    createdBy,
    createdAt: toRfc3339(createdAt),
    ...(expiresAt !== undefined && { expiresAt: toRfc3339(expiresAt) }),
    ...(revokedAt !== undefined && { revokedAt: toRfc3339(revokedAt) }),
    replacedBy,
    ...(lastUsedAt !== undefined && { lastUsedAt: toRfc3339(lastUsedAt) }),
  };
}

export function toCreatedConsumerOut({
  consumer: { id, name, grants },
  issued,
}: ConsumerWithKey): z.infer<typeof createdConsumerOut> {
  return { id, name, grants, key: issued.key.reveal() };
}

export function toNewKeyOut({ issued }: ConsumerWithKey): z.infer<typeof newKeyOut> {
  return { key: issued.key.reveal() };
}
