import { vi } from 'vitest';
import { SECOND } from '#shared/clock.ts';

/** A machine that is busy with other things as well makes a test slow, and not fail. */
const PATIENCE_MS = 60 * SECOND;
/** Looks at another process are work, too. */
const LOOK_EVERY_MS = 50;

/** Waits until the check passes, on a real clock; resolves with what it returns. */
export function eventually<T>(check: () => T | Promise<T>, interval = LOOK_EVERY_MS): Promise<T> {
  return vi.waitFor(check, { timeout: PATIENCE_MS, interval });
}
