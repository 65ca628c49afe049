import type { Finding } from '#catalog/spec/finding.ts';
import { specKindOf } from '#catalog/spec/spec-kind.ts';
import type { SpecChecker } from '#catalog/spec/spec-kind.ts';
import { SECOND } from '#shared/clock.ts';
import type { Clock } from '#shared/clock.ts';
import { refuseThread } from './heavy-body.ts';
import type * as functions from './spec-functions.ts';
import { createThread, DEADLINE_MS, isTooCostly } from './thread.ts';

/** Shorter specs take a few milliseconds at most, whatever stands in them. */
const INLINE_CHARACTERS_MAX = 16 * 1024;

/**
 * Validates big specs in a thread of its own: some lists of a document are compared each with each,
 * so that 700 KB can take a quarter of a minute. Those of AsyncAPI go there whatever their size, for the
 * few that come are not worth the memory of their schemas, nor the 100 ms that compiling one takes.
 */
export function createSpecChecker({ clock }: { clock: Pick<Clock, 'sleep'> }): SpecChecker {
  const module = new URL('spec-functions.ts', import.meta.url);
  const thread = createThread<typeof functions>({ module, clock });
  return async (specText) => {
    if (!isInline(specText)) return thread.run('check', specText).catch(findingOfCost);
    const { findingsOf } = await import('#catalog/spec/validation/spec-check.ts');
    return findingsOf(specText);
  };
}

function isInline(specText: string): boolean {
  if (specText.length > INLINE_CHARACTERS_MAX) return false;
  return specKindOf(JSON.parse(specText)) !== 'asyncapi';
}

function findingOfCost(error: unknown): Finding[] {
  if (isTooCostly(error)) return [tooCostly];
  return refuseThread(error, 'The spec could not be validated.');
}

const tooCostly: Finding = {
  pointer: '#/spec',
  code: 'too-costly',
  detail: `The spec could not be validated within ${DEADLINE_MS / SECOND} s: too much is wrong with it, or one of its lists is too long.`,
};
