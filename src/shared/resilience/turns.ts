import { setImmediate } from 'node:timers/promises';

type Turn = { left: number; over: Promise<void> };

/**
 * Lets everybody else in between: in one turn of the event loop those pass here who come to `max` together, and the
 * others with the next ones. Who is more alone passes alone.
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
