/** One issue in a row is its own matter; so many are a reason to ask whether any may be written. */
const DOUBTED_IN_A_ROW = 2;
/** So many issues in a row that may not be written are no coincidence. */
const ISSUES_IN_A_ROW_MAX = 3;
/** Issues that are remembered; far more than are ever refused while others are written. */
const REMEMBERED_MAX = 1000;

/**
 * What a 403 to a write means of which the tracker tells no reason:
 *
 * - `own`: another issue was written since this one was refused first, or no other was refused since
 *   the last that was written, so that it is this issue's.
 * - `unclear`: a second issue in a row was refused. The next one will tell.
 * - `general`: several issues in a row were refused: it may not write at all.
 */
type RefusalMeaning = 'own' | 'unclear' | 'general';

/** Tells an issue that may not be written from a repository in which none may. */
export type WriteRefusals = {
  noteSuccess(number: number): void;
  noteRefusal(number: number): RefusalMeaning;
  /** True while what was refused since the last write is one issue's own matter. */
  isWell(): boolean;
};

export function createWriteRefusals(): WriteRefusals {
  /** By issue: whether another one was written since it was refused first. */
  const refused = new Map<number, { isOwn: boolean }>();
  let inARow = new Set<number>();
  return {
    noteSuccess: (number) => {
      refused.delete(number);
      for (const refusal of refused.values()) refusal.isOwn = true;
      inARow = new Set();
    },
    noteRefusal: (number) => {
      if (refused.size >= REMEMBERED_MAX) refused.clear();
      const refusal = refused.get(number) ?? { isOwn: false };
      refused.set(number, refusal);
      if (refusal.isOwn) return 'own';
      inARow.add(number);
      if (inARow.size < DOUBTED_IN_A_ROW) return 'own';
      return inARow.size < ISSUES_IN_A_ROW_MAX ? 'unclear' : 'general';
    },
    isWell: () => inARow.size < DOUBTED_IN_A_ROW,
  };
}
