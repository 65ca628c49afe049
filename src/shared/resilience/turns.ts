import { setImmediate } from 'node:timers/promises';

type Turn = { left: number; over: Promise<void> };

/**
 * Lets other work in between: in one turn of the event loop callers pass until their sizes come to `max`, and the rest
 * waits for the next turns. A caller that is larger than `max` passes, and has the rest of its turn to itself.
 */
export function createTurns(max: number): (size?: number) => Promise<void> {
  let current: Turn | undefined;
  return async (size = 1) => {
    for (;;) {
      const turn = (current ??= { left: max, over: setImmediate() });
      if (turn.left > 0) {
        turn.left -= size;
        return;
      }
      await turn.over;
      if (current === turn) current = undefined;
    }
  };
}
