/** Pages that ask before something is done: see `confirm` of an action. */
import { z } from 'zod';
import { refuse } from '#shared/errors.ts';
import { html } from '../html.ts';
import { type PortalPage, SECTIONS } from '../page.ts';
import { input } from '../shell/fields.ts';
import { confirmation } from '../shell/forms.ts';
import { errorSummary, problemOf } from '../shell/notice.ts';
import type { Confirmation, FormRequest } from './route-types.ts';

/** What is asked, and when its form came back the same with what is wrong; or a page why nothing can be done. */
export function confirmationPage<Params, Query>(
  confirm: (request: FormRequest<Params, Query>) => Promise<Confirmation | PortalPage>,
  isDoneOnce = false,
): (request: FormRequest<Params, Query>) => Promise<PortalPage> {
  return async (request) => {
    const { person, path: action } = request;
    const shown = await confirm(request);
    if ('body' in shown) return shown;
    const { title, section, crumbs, failed, wayOut = 'Cancel', toType, ...rest } = shown;
    const { problems = request.problems, fields = [], ...given } = rest;
    const error = problemOf(problems, 'typed');
    const last = toType === undefined ? [] : [input({ name: 'typed', label: toType, error })];
    const cancel = { href: crumbs.at(-1)?.href ?? SECTIONS[section].path, text: wayOut };
    const summary = problems.length > 0 && errorSummary({ heading: failed, problems });
    const all = { ...given, fields: [...fields, ...last] };
    const form = confirmation({ ...all, action, person, isDoneOnce, cancel });
    return { title, section, crumbs, body: html`${summary}${form}` };
  };
}

/** What a page that asks before something final wants typed again: see `toType`. */
export const typedForm = z.object({ typed: z.string().trim() });

/** Alike is what looks alike. `what` is such as `the version`. @throws {validation-failed} */
export function requireTyped(typed: string, expected: string, what: string): void {
  if (typed.normalize('NFC') !== expected.normalize('NFC'))
    refuseTyped(`This is not ${what}. Type it exactly.`);
}

/** @throws {validation-failed} at the field of `typedForm` */
export function refuseTyped(detail: string): never {
  refuse([{ pointer: '#/typed', code: 'mismatch', detail }]);
}
