import { z } from 'zod';
import { refuse } from '#shared/errors.ts';
import type { Html, HtmlValue } from './html.ts';
import type { FormProblem } from './page.ts';
import { input } from './shell/fields.ts';
import { problemOf } from './shell/notice.ts';

/** What a page that asks before something final wants typed again. */
export const typedForm = z.object({ typed: z.string().trim() });

export function typedField(label: HtmlValue, problems: readonly FormProblem[]): Html {
  return input({ name: 'typed', label, error: problemOf(problems, 'typed') });
}

/** Alike is what looks alike. `what` is such as `the version`. @throws {validation-failed} */
export function requireTyped(typed: string, expected: string, what: string): void {
  if (typed.normalize('NFC') !== expected.normalize('NFC'))
    refuseTyped(`This is not ${what}. Type it exactly.`);
}

/** @throws {validation-failed} at the field of `typedForm` */
export function refuseTyped(detail: string): never {
  refuse([{ pointer: '#/typed', code: 'mismatch', detail }]);
}
