import type * as checks from './check-functions.ts';
import type * as functions from './spec-functions.ts';
import { diffSpecs } from '#catalog/diff/diff-specs.ts';
import type { Finding } from '#catalog/version/artifact.ts';
import type { SpecThreads } from '#catalog/spec/spec-jobs.ts';
import { type Clock, SECOND } from '#shared/clock.ts';
import { entryUrl } from '#shared/program.ts';
import { createThread, DEADLINE_MS, isTooCostly, refuseThread } from './thread.ts';

/**
 * Works on specs in threads, whatever their size: a schema of others takes seconds for 16 KB that are made
 * for it. Checks have one of their own, so that no writer keeps readers waiting.
 */
export function createSpecThreads({ clock }: { clock: Clock }): SpecThreads {
  const ofWrites = createThread<typeof checks>({
    module: entryUrl('adapters/threads/check-functions'),
    clock,
  });
  const ofReads = createThread<typeof functions>({
    module: entryUrl('adapters/threads/spec-functions'),
    clock,
  });
  return {
    checkSpec: (specText, signal) =>
      ofWrites
        .run('check', specText, { signal })
        .catch((error: unknown) =>
          isTooCostly(error)
            ? [tooCostly]
            : refuseThread(error, 'The spec could not be validated.'),
        ),
    diffSpecs: async (specs, signal) =>
      specs.before === specs.after
        ? diffSpecs({ before: undefined, after: undefined })
        : ofReads
            .run('diff', specs, { signal })
            .catch((error: unknown) =>
              isTooCostly(error)
                ? 'too-costly'
                : refuseThread(error, 'The specs could not be compared now.'),
            ),
    renderSpecYaml: (specText, signal) =>
      ofReads
        .run('yaml', specText, { signal })
        .catch((error: unknown) =>
          isTooCostly(error)
            ? undefined
            : refuseThread(error, 'The spec could not be written as YAML in time.'),
        ),
  };
}

const tooCostly: Finding = {
  pointer: '#/spec',
  code: 'too-costly',
  detail: `The spec could not be validated within ${DEADLINE_MS / SECOND} s: too much is wrong with it, or one of its lists is too long.`,
};
