import type { Finding } from '#catalog/spec/finding.ts';
import { findingsOf } from '#catalog/spec/spec-check.ts';
import type { SpecChecker } from '#catalog/spec/spec-check.ts';
import { SECOND } from '#shared/clock.ts';
import type { Clock } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import type * as functions from './spec-functions.ts';
import { createThread, DEADLINE_MS, ThreadError } from './thread.ts';

/** Shorter specs take a few milliseconds at most, whatever stands in them. */
const INLINE_CHARACTERS_MAX = 16 * 1024;

/**
 * Validates big specs in a thread of its own: some lists of a document are compared each with each,
 * so that 700 KB can take a quarter of a minute.
 */
export function createSpecChecker({ clock }: { clock: Pick<Clock, 'sleep'> }): SpecChecker {
  const module = new URL('spec-functions.ts', import.meta.url);
  const thread = createThread<typeof functions>({ module, clock });
  return async (specText) =>
    specText.length <= INLINE_CHARACTERS_MAX
      ? findingsOf(specText)
      : thread.run('check', specText).catch(findingOfCost);
}

function findingOfCost(error: unknown): Finding[] {
  if (!(error instanceof ThreadError)) throw error;
  if (error.code !== 'CRASHED') return [tooCostly];
  throw new TrackportError('overloaded', {
    detail: 'The spec could not be validated.',
    retryAfterSeconds: DEADLINE_MS / SECOND,
    cause: error,
  });
}

const tooCostly: Finding = {
  pointer: '#/spec',
  code: 'too-costly',
  detail: `The spec could not be validated within ${DEADLINE_MS / SECOND} s: too much is wrong with it, or one of its lists is too long.`,
};
