import { artifactWrites } from './artifact/writes.ts';
import { changeWrites } from './change-writes.ts';
import { consumerWrites } from './consumer/writes.ts';
import { idempotencyWrites } from './idempotency-store.ts';
import { keyWrites } from './secret-key.ts';
import type { Writes } from './session.ts';
import { sessionWrites } from './session-store.ts';
import { trafficWrites } from './traffic-store.ts';

/** What a thread finds by its name: the writes of each store. */
export const everyWrite: Readonly<Record<string, Writes>> = {
  artifact: artifactWrites,
  change: changeWrites,
  consumer: consumerWrites,
  idempotency: idempotencyWrites,
  'secret-key': keyWrites,
  session: sessionWrites,
  traffic: trafficWrites,
};
