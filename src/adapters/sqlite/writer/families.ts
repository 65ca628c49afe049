import { artifactWrites } from '../artifact/write-family.ts';
import { claimWrites } from '../claims/write-family.ts';
import { consumerWrites } from '../consumer/write-family.ts';
import { directoryWrites } from '../directory/write-family.ts';
import { feedWrites } from '../feed/write-family.ts';
import { idempotencyWrites } from '../idempotency-store.ts';
import { receiptWrites } from '../receipt/write-family.ts';
import { keyWrites } from '../secret-key.ts';
import { sessionWrites } from '../session/write-family.ts';
import { trafficWrites } from '../traffic/write-family.ts';
import { leaseWrites } from '../work/lease-family.ts';
import { workWrites } from '../work/write-family.ts';
import { checkWrites } from '../check-writes.ts';
import type { FamilyName, WriteFamily, Writes } from './writer.ts';

const all = [
  artifactWrites,
  claimWrites,
  consumerWrites,
  directoryWrites,
  feedWrites,
  idempotencyWrites,
  receiptWrites,
  keyWrites,
  sessionWrites,
  trafficWrites,
  workWrites,
  leaseWrites,
  checkWrites,
];

/** Every family by its name: what a thread can write. */
export const families: ReadonlyMap<FamilyName, WriteFamily<never, Writes>> = new Map(
  all.map((family) => [family.name, family]),
);
