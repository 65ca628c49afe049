import { changeWrites } from './change-log.ts';
import { consumerWrites } from './consumer/writes.ts';
import { idempotencyWrites } from './idempotency-store.ts';
import type { Writes } from './session.ts';
import { sessionWrites } from './session-store.ts';
import { trafficWrites } from './traffic-store.ts';

/** What a thread finds by its name: the writes of each store. */
export const everyWrite: Readonly<Record<string, Writes>> = {
  change: changeWrites,
  consumer: consumerWrites,
  idempotency: idempotencyWrites,
  session: sessionWrites,
  traffic: trafficWrites,
};
