import { z } from 'zod';
import { refuse } from '#shared/errors.ts';

/** What a page that asks before something final wants typed again. */
export const typedForm = z.object({ typed: z.string().trim() });

/** Alike is what looks alike. `what` is such as `the version`. @throws {validation-failed} */
export function requireTyped(typed: string, expected: string, what: string): void {
  if (typed.normalize('NFC') !== expected.normalize('NFC')) refuseTyped(what);
}

/** @throws {validation-failed} at the field of `typedForm` */
export function refuseTyped(what: string): never {
  refuse([
    { pointer: '#/typed', code: 'mismatch', detail: `This is not ${what}. Type it exactly.` },
  ]);
}
