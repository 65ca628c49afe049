import { onTestFinished } from 'vitest';
import { scratchFolder } from './at-exit.ts';

/** A folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = scratchFolder('test');
  onTestFinished(() => folder[Symbol.dispose]());
  return folder.path;
}
