import { artifactWrites } from './artifact/writes.ts';
import { changeWrites } from './change-writes.ts';
import { claimWrites } from './claim/writes.ts';
import { consumerWrites } from './consumer/writes.ts';
import { directoryWrites } from './directory/writes.ts';
import { idempotencyWrites } from './idempotency-store.ts';
import { leadFeedWrites } from './lead-feed/writes.ts';
import { receiptWrites } from './receipt/accept.ts';
import { keyWrites } from './secret-key.ts';
import type { Writes } from './session.ts';
import { sessionWrites } from './session-store.ts';
import { trafficWrites } from './traffic-store.ts';
import { leaseWrites } from './work/worker-lease.ts';
import { workWrites } from './work/writes.ts';
import { checkWrites } from './write-check.ts';

/** What a thread finds by its name: the writes of each store. */
export const everyWrite: Readonly<Record<string, Writes>> = {
  artifact: artifactWrites,
  change: changeWrites,
  claim: claimWrites,
  consumer: consumerWrites,
  directory: directoryWrites,
  idempotency: idempotencyWrites,
  'lead-feed': leadFeedWrites,
  receipt: receiptWrites,
  'secret-key': keyWrites,
  session: sessionWrites,
  traffic: trafficWrites,
  work: workWrites,
  'worker-lease': leaseWrites,
  'write-check': checkWrites,
};
