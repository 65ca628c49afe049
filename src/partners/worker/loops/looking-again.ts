import { lookAgain } from '../../deletions/match/look-again.ts';
import type { LookAgainDeps } from '../../deletions/match/look-again.ts';
import { LOOK_EVERY_MS } from '../leasing.ts';
import { runLoop } from './run-loop.ts';
import type { LoopDeps } from './run-loop.ts';

export type LookingAgainDeps = LoopDeps & { look: LookAgainDeps };

/** Looks again for late leads until the worker stops. Never throws. */
export function runLookingAgain(deps: LookingAgainDeps): Promise<void> {
  const { alarms, look } = deps;
  return runLoop(deps, 'look', async () => {
    const waitMs = await lookAgain(look, () => alarms.act.ring());
    return Math.min(waitMs, LOOK_EVERY_MS);
  });
}
