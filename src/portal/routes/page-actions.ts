/** Pages and actions as their sections write them, and the question before something is done. */
import { z } from 'zod';
import { type FieldProblem, refuse } from '#shared/errors.ts';
import { type Html, type HtmlValue, html } from '../html.ts';
import type { PagesContext } from '../context.ts';
import type { PortalPage, Once, PortalFile, PortalPerson } from '../page.ts';
import { type PostForm, button, input, postForm, type HeldForm } from '../shell/forms.ts';
import { SECTIONS } from '../paths.ts';
import { errorSummary, problemOf } from '../shell/notice.ts';
import { link } from '../shell/elements.ts';
import { list, row } from '../shell/card.ts';
import { present } from '../address.ts';
import type { Actor } from '#shared/audit.ts';
import type { Scope } from '#access/tokens.ts';
import type { Viewer } from '../shell/times.ts';

/** A request as handlers get it. */
type PortalRequest<Params> = {
  person: PortalPerson;
  /** For times on the page. */
  viewer: Viewer;
  /** For what belongs to the session itself. */
  session: { digest: Buffer };
  /** Of the page, or where the form is sent. */
  path: string;
  params: Params;
};

type PageOptions<Query extends z.ZodType, Params extends z.ZodType> = {
  /** Default: a session is enough. */
  scope?: Scope;
  /** Default: no parameter. What is repeated comes as a list. */
  query?: Query;
  /** Of the path; what does not fit is a page that is not there. */
  params?: Params;
  /** A filter that does not fit is left out, and said above the list; else the address is refused. */
  isList?: true;
};

/** With what came back of a form, or of a list's filters: only those that were wrong and left out. */
export type PageRequest<Query = unknown, Params = unknown> = PortalRequest<Params> &
  HeldForm & { query: Query };

/** A form, and what it does. `Given`: what its handlers get before the request. */
export type Action<
  Form extends z.ZodType,
  Params extends z.ZodType,
  Query extends z.ZodType,
  Given extends unknown[] = [],
> = {
  /** Default: a session is enough. */
  scope?: Scope;
  /** Of the fields, each a text, or a list when it came several times; an empty field is ''. */
  form?: Form;
  params?: Params;
  /** Default 64 KiB. */
  formBytesMax?: number;
  /**
   * A form that is sent twice, as by a second click, is done once, and both lead to the same page: for
   * what shows a secret. The `postForm` of a `page` says `isDoneOnce`.
   */
  doneOnce?: boolean;
  /** The page with the form, at the same address. A form that did not fit stands on it again. */
  page?: (
    ...given: [...Given, request: FormRequest<z.output<Params>, z.output<Query>>]
  ) => Promise<PortalPage>;
  /** Of that page's address. */
  query?: Query;
  /**
   * The page on which a form that did not fit stands again, where it is another one than `page`. A form
   * does not fit when its schema refuses it, or the use case does with 400, 409, 412 or 422. Without
   * either page such an error is shown on the page for errors.
   */
  onProblems?: (
    ...given: [...Given, request: FormRequest<z.output<Params>>]
  ) => Promise<PortalPage>;
  run: (
    ...given: [...Given, request: ActionRequest<z.output<Form>, z.output<Params>>]
  ) => Promise<ActionResult>;
};

export type ActionRequest<Form = unknown, Params = unknown> = PortalRequest<Params> & {
  /** For use cases: who does it, by which request. */
  origin: { actor: Actor; requestId: string; signal: AbortSignal };
  form: Form;
};

/** Result of an action: a page of the portal, with what it shows once. */
export type ActionResult = Once & { location: string };

/** For a page with a form, when it is opened and when its form came back. */
export type FormRequest<Params = unknown, Query = unknown> = PageRequest<
  /** Undefined when the form came back. */
  Query | undefined,
  Params
> & {
  /** Its field `seen`, where it was filled in before the sign-in: what it says of then still counts. */
  seenBefore?: string;
};

/** No field. */
export const nothing = z.strictObject({});

type NoFields = typeof nothing;

/** Adds pages and actions: see `createPortalRoutes`. */
export type PortalRoutes = {
  page<Query extends z.ZodType = NoFields, Params extends z.ZodType = NoFields>(
    path: string,
    options: PageOptions<Query, Params>,
    show: (
      request: PageRequest<z.output<Query>, z.output<Params>>,
    ) => Promise<PortalPage | PortalFile>,
  ): void;
  action<
    Form extends z.ZodType = NoFields,
    Params extends z.ZodType = NoFields,
    Query extends z.ZodType = NoFields,
  >(
    path: string,
    action: Action<Form, Params, Query>,
  ): void;
};

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

type PageAction<Form extends z.ZodType, Params extends z.ZodType, Query extends z.ZodType> = Action<
  Form,
  Params,
  Query,
  [context: PagesContext]
> & {
  path: string;
  /** In place of `page`: what is confirmed there, or a page why nothing can be done. */
  confirm?: (
    context: PagesContext,
    request: FormRequest<z.output<Params>, z.output<Query>>,
  ) => Promise<Confirmation | PortalPage>;
};

type AnyPageAction = PageAction<z.ZodType, z.ZodType, z.ZodType>;

/** One action; its handlers get what pages work on, then the request as its schemas say it. */
export const action = <
  Form extends z.ZodType = NoFields,
  Params extends z.ZodType = NoFields,
  Query extends z.ZodType = NoFields,
>(
  given: PageAction<Form, Params, Query>,
) => given as unknown as AnyPageAction;

export function addActions(
  portal: PortalRoutes,
  context: PagesContext,
  actions: readonly AnyPageAction[],
): void {
  for (const { path, confirm, page: form, onProblems, run, ...rest } of actions) {
    const ask = confirm && confirmationPage(confirm, rest.doneOnce);
    const page = ask ?? form;
    portal.action<z.ZodType, z.ZodType, z.ZodType>(path, {
      ...rest,
      ...(page && { page: (request) => page(context, request) }),
      ...(onProblems && { onProblems: (request) => onProblems(context, request) }),
      run: (request) => run(context, request),
    });
  }
}

/** The question, and when its form came back the same with what is wrong; or a page why nothing can be done. */
function confirmationPage(confirm: NonNullable<AnyPageAction['confirm']>, isDoneOnce = false) {
  return async (context: PagesContext, request: FormRequest): Promise<PortalPage> => {
    const { person, path: action } = request;
    const shown = await confirm(context, request);
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
