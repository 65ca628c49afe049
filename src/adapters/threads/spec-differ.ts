import { diffSpecs } from '#catalog/diff/diff-specs.ts';
import type { SpecDiffer } from '#catalog/diff/diff-specs.ts';
import type { Clock } from '#shared/clock.ts';
import { refuseThread } from './heavy-body.ts';
import type * as functions from './spec-functions.ts';
import { createThread, isTooCostly } from './thread.ts';

/** Shorter specs are compared in a few milliseconds, both together. */
const INLINE_CHARACTERS_MAX = 64 * 1024;

/** Compares big specs in a thread of its own. */
export function createSpecDiffer({ clock }: { clock: Pick<Clock, 'sleep'> }): SpecDiffer {
  const module = new URL('spec-functions.ts', import.meta.url);
  const thread = createThread<typeof functions>({ module, clock });
  return async (specs) =>
    (specs.before?.length ?? 0) + (specs.after?.length ?? 0) <= INLINE_CHARACTERS_MAX
      ? diffSpecs(specs)
      : thread
          .run('diff', specs)
          .catch((error: unknown) =>
            isTooCostly(error)
              ? 'too-costly'
              : refuseThread(error, 'The specs could not be compared now.'),
          );
}
