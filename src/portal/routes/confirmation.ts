/** Pages that ask before something is done: see `confirm` of an action. */
import { z } from 'zod';
import { type FieldProblem, refuse } from '#shared/errors.ts';
import { present } from '../address.ts';
import { html, type Html } from '../html.ts';
import { type PortalPage } from '../page.ts';
import { input, button, postForm, type PostForm } from '../shell/forms.ts';
import { list, row } from '../shell/card.ts';
import { link } from '../shell/elements.ts';
import { errorSummary, problemOf } from '../shell/notice.ts';
import type { Confirmation, FormRequest } from './route-types.ts';
import { SECTIONS } from '../paths.ts';

/** The question, and when its form came back the same with what is wrong; or a page why nothing can be done. */
export function confirmationPage<Params, Query>(
  confirm: (request: FormRequest<Params, Query>) => Promise<Confirmation | PortalPage>,
  isDoneOnce = false,
): (request: FormRequest<Params, Query>) => Promise<PortalPage> {
  return async (request) => {
    const { person, path: action } = request;
    const shown = await confirm(request);
    if ('body' in shown) return shown;
    const { title, section, crumbs, failed, problems = request.problems, values } = shown;
    const summary = problems.length > 0 && errorSummary({ heading: failed, problems });
    const form = { action, person, isDoneOnce, ...present({ values }) };
    return { title, section, crumbs, body: html`${summary}${confirmation(shown, form, problems)}` };
  };
}

/** The body of a page that asks before it does something. */
function confirmation(
  given: Confirmation,
  form: PostForm,
  problems: readonly FieldProblem[],
): Html {
  const { section, crumbs, warning, consequences, submit, danger, toType } = given;
  const out = crumbs.at(-1)?.href ?? SECTIONS[section].path;
  const wayOut = link(out, given.wayOut ?? 'Cancel', { look: 'button' });
  const error = problemOf(problems, 'typed');
  const typed = toType !== undefined && input({ name: 'typed', label: toType, error });
  const look = danger === true ? 'danger' : 'primary';
  return html`<section class="card dialog" aria-label="Confirm">
    <div class="body">
      ${warning} ${consequences.length > 0 && list(...consequences)}
      ${
        submit === undefined
          ? row(wayOut)
          : postForm(form, given.fields, typed, row(button(submit, { look }), wayOut))
      }
    </div>
  </section>`;
}

/** Typed again before something final: see `toType`. */
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
