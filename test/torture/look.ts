import { setTimeout as sleep } from 'node:timers/promises';
import type { Findings } from './findings.ts';
import type { Run } from './run.ts';

const AGAIN_MS = 100;

/** Looks into the store, again and again while that is away. */
export async function lookPatiently<T>(
  { store }: Pick<Run, 'store'>,
  look: (findings: Findings) => Promise<T>,
): Promise<T> {
  for (;;) {
    await using findings = store.openFindings();
    try {
      return await look(findings);
    } catch {
      await sleep(AGAIN_MS);
    }
  }
}
