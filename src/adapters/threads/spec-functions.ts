/** What the threads of `spec-checker.ts`, `spec-differ.ts` and `spec-renderer.ts` run. */
export { diffSpecs as diff } from '#catalog/diff/diff-specs.ts';
export { renderSpecYaml as yaml } from '#catalog/spec/spec-yaml.ts';

import type { Finding } from '#catalog/spec/finding.ts';
import { findingsOf } from '#catalog/spec/validation/spec-check.ts';

export function check(specText: string): Promise<Finding[]> {
  return findingsOf(specText);
}
