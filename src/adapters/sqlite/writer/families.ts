import { artifactWrites } from '../artifact/write.ts';
import { claimWrites } from '../claims/writes.ts';
import { consumerWrites } from '../consumer/writes.ts';
import { directoryWrites } from '../directory/writes.ts';
import { feedWrites } from '../feed/writes.ts';
import { idempotencyWrites } from '../idempotency-store.ts';
import { receiptWrites } from '../receipt/writes.ts';
import { workWrites } from '../work/writes.ts';
import { checkWrites } from '../write-check.ts';
import type { FamilyName, WriteFamily, Writes } from './writer.ts';

const all = [
  artifactWrites,
  claimWrites,
  consumerWrites,
  directoryWrites,
  feedWrites,
  idempotencyWrites,
  receiptWrites,
  workWrites,
  checkWrites,
];

/** Every family by its name: what a thread can write. */
export const families: ReadonlyMap<FamilyName, WriteFamily<never, Writes>> = new Map(
  all.map((family) => [family.name, family]),
);
