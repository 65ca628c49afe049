/** The question before something is done, and what is typed to answer it. */
import { z } from 'zod';
import { type FieldProblem, refuse } from '#shared/errors.ts';
import { withoutInvisible } from '#shared/text/visible.ts';
import type { PortalContext } from '../context.ts';
import { type Html, html, type HtmlValue } from '../html.ts';
import type { PortalPage } from '../page.ts';
import { SECTIONS } from '../paths.ts';
import { list, row } from '../shell/card.ts';
import { cut, link } from '../shell/elements.ts';
import { button, errorSummary, input, type PostForm, postForm, problemOf } from '../shell/forms.ts';
import type { PortalRequest } from './portal-request.ts';

/** The question before something is done. The way out leads to the last of the crumbs, or the section. */
export type Confirmation = Pick<PortalPage, 'section' | 'title'> & {
  crumbs: readonly { href: string; text: string }[];
  /** Says that nothing happened when the form comes back, such as `Not revoked`. */
  failed: string;
  /** Those of the request in other words. */
  problems?: readonly FieldProblem[];
  /** Says who is hit and how, by `remark`. */
  warning?: Html;
  /** Say what happens, what does not, whether it can be undone. */
  consequences: readonly HtmlValue[];
  /** Such as a date. */
  fields?: readonly Html[];
  /** The label of what has to be typed again, last: see `typedForm`. */
  toType?: HtmlValue;
  /** Values that nobody types. */
  values?: Readonly<Record<string, string>>;
  /** Left out where it cannot be done: then nothing is asked. */
  submit?: string;
  /** Red, for what cannot be undone. */
  danger?: boolean;
  /** Such as `Keep it`; default `Cancel`. */
  wayOut?: string;
};

type Ask<Params, Query> = (
  context: PortalContext,
  request: PortalRequest<Params, Query>,
) => Promise<Confirmation | PortalPage>;

/** Shows the question, and when its form came back the same with what is wrong; or a page why nothing can be done. */
export function confirmationPage<Params, Query>(confirm: Ask<Params, Query>) {
  return async (
    context: PortalContext,
    request: PortalRequest<Params, Query>,
  ): Promise<PortalPage> => {
    const { person, path: action } = request;
    const shown = await confirm(context, request);
    if ('body' in shown) return shown;
    const { title, section, crumbs, failed, problems = request.problems, values } = shown;
    const summary = problems.length > 0 && errorSummary({ heading: failed, problems });
    const form = { action, person, values };
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
  if (asSeen(typed) !== asSeen(expected)) refuseTyped(`This is not ${what}. Type it exactly.`);
}

/** A text as its page shows it: a browser makes its blanks one, and nobody sees those at its ends. */
function asSeen(text: string): string {
  return withoutInvisible(cut(text)).replaceAll(BLANKS, ' ').trim().normalize('NFC');
}

/** Blanks as people see them, that of Braille among them. */
const BLANKS = /[\s\u2800]+/g;

/** @throws {validation-failed} at the field of `typedForm` */
export function refuseTyped(detail: string): never {
  refuse([{ pointer: '#/typed', code: 'mismatch', detail }]);
}
