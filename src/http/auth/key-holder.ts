import type { FastifyRequest } from 'fastify';
import type { ConsumerPrincipal } from '#access/keys/authenticate-key.ts';

/** The caller with a key, and how often it may call. */
export type KeyHolder = { principal: ConsumerPrincipal; limitPerMinute: number };

/** Whom `admitKey` let in. */
export function keyHolderOf({ keyHolder }: FastifyRequest): KeyHolder {
  if (keyHolder === undefined) throw new Error('no key was looked at');
  return keyHolder;
}
