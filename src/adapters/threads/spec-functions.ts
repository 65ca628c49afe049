/** What the thread of `spec-checker.ts` runs. */
export { diffSpecs as diff } from '#catalog/diff/diff-specs.ts';

import type { Finding } from '#catalog/spec/finding.ts';
import { findingsOf } from '#catalog/spec/spec-check.ts';

export function check(specText: string): Promise<Finding[]> {
  return findingsOf(specText);
}
