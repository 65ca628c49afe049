import { setImmediate } from 'node:timers/promises';
import type { Issue } from '../lead-tracker.ts';

/** Others get a turn of the event loop when reading bodies has taken this long. */
const SLICE_MS = 10;

/** `map` of every issue, in order. A page of a hundred long bodies must not hold up everybody else. */
export async function mapIssues<T>(
  issues: readonly Issue[],
  map: (issue: Issue) => T,
): Promise<T[]> {
  const mapped: T[] = [];
  let sliceStart = performance.now();
  for (const issue of issues) {
    if (performance.now() - sliceStart > SLICE_MS) {
      await setImmediate();
      sliceStart = performance.now();
    }
    mapped.push(map(issue));
  }
  return mapped;
}
